// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Structs, enums with data, generics, slices and statics, to test rustc's DWARF of these.
use std::fmt::Debug;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub x: i32,
    pub y: u64,
    pub flags: [u8; 3],
}

#[derive(Debug, Clone)]
pub enum Shape {
    Empty,
    Circle { center: Point, radius: u32 },
    Path(Vec<Point>, Option<Box<Shape>>),
}

pub static ORIGIN: Point = Point { x: 0, y: 0, flags: [0; 3] };

pub trait Area {
    fn area(&self) -> u64;
}

impl Area for Shape {
    fn area(&self) -> u64 {
        match self {
            Shape::Empty => 0,
            Shape::Circle { center, radius } => center.y * u64::from(*radius),
            Shape::Path(points, next) => points.len() as u64 + next.as_ref().map_or(0, |n| n.area()),
        }
    }
}

pub fn total<T: Area + Debug>(shapes: &[T], f: &dyn Fn(&T) -> bool) -> u64 {
    shapes.iter().filter(|s| f(s)).map(|s| s.area()).sum()
}

#[no_mangle]
pub extern "C" fn area_of(shapes: &[Shape], limit: u64) -> u64 {
    total(shapes, &|s| s.area() < limit && !format!("{:?}", s).is_empty())
}
