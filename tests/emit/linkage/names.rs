// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Input of linkage-names-test.py: Rust functions, of which all but plain() have mangled symbols:
// methods, functions of traits, generics, closures.
#![crate_type = "lib"]
pub struct Shape {
    pub sides: u32,
}
pub enum Kind {
    None,
    Some(u32),
}
pub trait Grow {
    fn grow(&self, by: u32) -> u32;
}
impl Shape {
    #[inline(never)]
    pub fn area(&self, scale: u32) -> u32 {
        self.sides * scale
    }
}
impl Kind {
    #[inline(never)]
    pub fn number(&self) -> u32 {
        match self {
            Kind::None => 0,
            Kind::Some(n) => *n,
        }
    }
}
impl Grow for Shape {
    #[inline(never)]
    fn grow(&self, by: u32) -> u32 {
        self.sides + by
    }
}
impl Grow for u64 {
    #[inline(never)]
    fn grow(&self, by: u32) -> u32 {
        *self as u32 * by
    }
}
#[inline(never)]
pub fn twice<T: core::ops::Add<Output = T> + Copy>(value: T) -> T {
    value + value
}
#[no_mangle]
pub extern "C" fn plain(value: u32) -> u32 {
    value
}
#[inline(never)]
pub fn apply(f: &dyn Fn(u32) -> u32, value: u32) -> u32 {
    f(value)
}
pub fn user(value: u32) -> u32 {
    apply(&|by: u32| value + by, value) + twice(value) + twice(value as u64) as u32
}
