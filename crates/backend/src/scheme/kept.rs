// SPDX-License-Identifier: Apache-2.0
//! What a run keeps between requests, within the memory that it was given.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::polynomial::Room;

/// Values that are made once and kept for later requests while there is room; dropped, they leave the room to others.
pub struct Kept<K, V> {
    room: Arc<Room>,
    held: Mutex<Held<K, V>>,
}

struct Held<K, V> {
    values: HashMap<K, Arc<V>>,
    bytes: usize,
}

impl<K: Eq + Hash, V> Kept<K, V> {
    pub fn new(room: &Arc<Room>) -> Self {
        Self {
            room: Arc::clone(room),
            held: Mutex::new(Held {
                values: HashMap::new(),
                bytes: 0,
            }),
        }
    }

    /// The value of a key. One that is not held is made, and held if there is room for its `bytes`; two callers at a
    /// time may both make it.
    pub fn get_or<E>(
        &self,
        key: K,
        bytes: impl FnOnce(&V) -> usize,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        if let Some(value) = self.held().values.get(&key) {
            return Ok(Arc::clone(value));
        }
        let made = Arc::new(make()?);
        let bytes = bytes(&made);
        let mut held = self.held();
        if !held.values.contains_key(&key) && self.room.claim(bytes) {
            held.values.insert(key, Arc::clone(&made));
            held.bytes += bytes;
        }
        Ok(made)
    }

    fn held(&self) -> MutexGuard<'_, Held<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Drop for Kept<K, V> {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.room.give_back(held.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn get(kept: &Kept<u32, u32>, key: u32, made: &Cell<u32>) -> u32 {
        let make = || -> Result<u32, ()> {
            made.set(made.get() + 1);
            Ok(10 * key)
        };
        *kept.get_or(key, |_| 4, make).unwrap()
    }

    #[test]
    fn values_are_made_once_while_there_is_room() {
        let (room, made) = (Room::new(9), Cell::new(0));
        let kept = Kept::new(&room);
        for _ in 0..2 {
            let all = [1, 2, 3].map(|key| get(&kept, key, &made));
            assert_eq!(all, [10, 20, 30]);
        }
        // The third has no room and is made each time.
        assert_eq!(made.get(), 4);
        drop(kept);
        let kept = Kept::new(&room);
        assert_eq!([3, 3].map(|key| get(&kept, key, &made)), [30, 30]);
        assert_eq!(made.get(), 5);
    }

    #[test]
    fn a_value_that_fails_is_not_held() {
        let kept: Kept<u32, u32> = Kept::new(&Room::new(8));
        assert_eq!(kept.get_or(1, |_| 4, || Err("no")), Err("no"));
        assert_eq!(
            kept.get_or(1, |_| 4, || Ok::<_, &str>(5)).as_deref(),
            Ok(&5)
        );
    }
}
