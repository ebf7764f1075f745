// SPDX-License-Identifier: Apache-2.0
//! Shapes as numpy has them: broadcasting, matrix products, sums along an axis.

/// Most axes of a tensor.
pub const MAX_AXES: usize = 16;

/// Number of elements of a shape; `None` beyond 2^30, the most a program may hold at once.
pub fn elements(shape: &[u32]) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1_u64, |count, &axis| count.checked_mul(u64::from(axis)))?;
    (count <= crate::index_map::MAX_ELEMENTS as u64).then_some(count as usize)
}

/// The shape of an elementwise operation on two tensors.
pub fn broadcast(a: &[u32], b: &[u32]) -> Option<Vec<u32>> {
    let axes = a.len().max(b.len());
    let axis = |shape: &[u32], i: usize| {
        (i + shape.len())
            .checked_sub(axes)
            .map_or(1, |at| shape[at])
    };
    (0..axes)
        .map(|i| match (axis(a, i), axis(b, i)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

/// For each element of `shape` in order, the index of the element of a tensor of shape `from` that broadcasts to it.
pub fn broadcast_indices<'a>(from: &[u32], shape: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    let strides = broadcast_strides(from, shape);
    let mut counter = vec![0_u32; shape.len()];
    let mut at = 0_usize;
    (0..elements(shape).unwrap_or(0)).map(move |_| {
        let here = at;
        for axis in (0..shape.len()).rev() {
            counter[axis] += 1;
            at += strides[axis];
            if counter[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * counter[axis] as usize;
            counter[axis] = 0;
        }
        here
    })
}

/// Row-major strides of `from`, seen as `shape`; 0 along axes that are repeated.
fn broadcast_strides(from: &[u32], shape: &[u32]) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1;
    for (own, axis) in from.iter().rev().zip((0..shape.len()).rev()) {
        strides[axis] = if *own == 1 { 0 } else { stride };
        stride *= *own as usize;
    }
    strides
}

/// A matrix product as a batch of products of two-dimensional matrices (numpy's `@`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatMul {
    /// Axes before the matrices', broadcast.
    pub batch: Vec<u32>,
    /// Shape of the result.
    pub shape: Vec<u32>,
    /// Rows of the left matrix, columns of the left and rows of the right, columns of the right.
    pub dims: [u32; 3],
}

impl MatMul {
    /// The product of tensors of these shapes, if there is one.
    pub fn new(a: &[u32], b: &[u32]) -> Option<Self> {
        let (rows, inner, a_batch) = match a {
            [] => return None,
            [k] => (None, *k, &a[..0]),
            [batch @ .., m, k] => (Some(*m), *k, batch),
        };
        let (columns, other, b_batch) = match b {
            [] => return None,
            [k] => (None, *k, &b[..0]),
            [batch @ .., k, n] => (Some(*n), *k, batch),
        };
        let batch = broadcast(a_batch, b_batch).filter(|_| inner == other)?;
        let shape = batch.iter().copied().chain(rows).chain(columns).collect();
        let dims = [rows.unwrap_or(1), inner, columns.unwrap_or(1)];
        Some(Self { batch, shape, dims })
    }

    /// Multiplications it takes.
    pub fn work(&self) -> u64 {
        self.batch
            .iter()
            .chain(&self.dims)
            .fold(1, |work, &axis| work.saturating_mul(u64::from(axis)))
    }
}

/// The shape without an axis.
pub fn without_axis(shape: &[u32], axis: u8) -> Option<Vec<u32>> {
    let axis = usize::from(axis);
    (axis < shape.len()).then(|| [&shape[..axis], &shape[axis + 1..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast(&[], &[2, 3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[4, 1, 3], &[2, 1]), Some(vec![4, 2, 3]));
        assert_eq!(broadcast(&[2], &[3]), None);
        assert_eq!(broadcast(&[0], &[1]), Some(vec![0]));
        let indices: Vec<usize> = broadcast_indices(&[2, 1], &[2, 3]).collect();
        assert_eq!(indices, [0, 0, 0, 1, 1, 1]);
        let indices: Vec<usize> = broadcast_indices(&[3], &[2, 3]).collect();
        assert_eq!(indices, [0, 1, 2, 0, 1, 2]);
        assert_eq!(broadcast_indices(&[], &[]).collect::<Vec<_>>(), [0]);
        assert_eq!(broadcast_indices(&[1], &[0]).count(), 0);
    }

    #[test]
    fn matrix_products_follow_numpy() {
        let shape = |a: &[u32], b: &[u32]| MatMul::new(a, b).map(|m| m.shape);
        assert_eq!(shape(&[3], &[3]), Some(vec![]));
        assert_eq!(shape(&[2, 3], &[3]), Some(vec![2]));
        assert_eq!(shape(&[3], &[3, 4]), Some(vec![4]));
        assert_eq!(shape(&[5, 1, 2, 3], &[7, 3, 4]), Some(vec![5, 7, 2, 4]));
        assert_eq!(shape(&[], &[3]), None);
        assert_eq!(shape(&[2, 3], &[4]), None);
        assert_eq!(MatMul::new(&[5, 2, 3], &[3, 4]).unwrap().work(), 120);
    }

    #[test]
    fn sizes_are_bounded() {
        assert_eq!(elements(&[]), Some(1));
        assert_eq!(elements(&[3, 0]), Some(0));
        assert_eq!(elements(&[1 << 15, 1 << 16]), None);
        assert_eq!(elements(&[u32::MAX; 4]), None);
        assert_eq!(without_axis(&[2, 3], 0), Some(vec![3]));
        assert_eq!(without_axis(&[2, 3], 2), None);
    }
}
