#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds SEAL 4.0.0 (plain, or with the HEXL it carries) from the sources inside the crate `seal_fhe`, then the bench.
# usage: build.sh CRATE_SOURCE_DIR BUILD_DIR plain|hexl...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sources=$1/SEAL
build=$2
shift 2
mkdir -p "$build"
# Out-of-tree copy: SEAL's CMake writes into its own source folder.
[ -d "$build/src" ] || { cp -r "$sources" "$build/src.part" && mv "$build/src.part" "$build/src"; }
for kind in "$@"; do
  [ -x "$build/bench-$kind" ] && [ "$build/bench-$kind" -nt "$here/main.cpp" ] && continue
  hexl=OFF; [ $kind = hexl ] && hexl=ON
  echo "SEAL ($kind): configure and build" >&2
  cmake -S "$build/src" -B "$build/$kind" -DCMAKE_BUILD_TYPE=Release -DSEAL_USE_INTEL_HEXL=$hexl -DSEAL_BUILD_DEPS=$hexl \
    -DSEAL_USE_MSGSL=OFF -DSEAL_USE_ZLIB=OFF -DSEAL_USE_ZSTD=OFF -DBUILD_SHARED_LIBS=OFF \
    -DSEAL_THROW_ON_TRANSPARENT_CIPHERTEXT=OFF -DCMAKE_CXX_FLAGS=-w >"$build/$kind.log" 2>&1
  nice cmake --build "$build/$kind" -j2 >>"$build/$kind.log" 2>&1
  defines=""; includes=""
  if [ $kind = hexl ]; then
    defines="-DBENCH_HEXL"
    includes="-I$build/src/thirdparty/hexl/hexl/include -I$build/hexl/thirdparty/hexl/hexl/include"
  fi
  # The combined static archive of the HEXL build still needs Debian's cpu_features.
  libs=$(find "$build/$kind/lib" -name 'libseal*.a' | head -1)
  extra=$(find "$build/$kind" -name 'libhexl*.a' | head -1)
  features=""; [ $kind = hexl ] && features="-lcpu_features"
  g++ -O3 -std=c++17 $defines $includes -I"$build/src/native/src" -I"$build/$kind/native/src" "$here/main.cpp" $libs $extra $features -lpthread -o "$build/bench-$kind.part"
  mv "$build/bench-$kind.part" "$build/bench-$kind"
done
