//! Gives back the memory that a supervisor has from the host, after `fork`: system calls only.
//!
//! A fork shares its parent's memory until one of them writes to it. A supervisor never does, but the host does, and
//! then every page that it changes exists twice for as long as the command runs. So the supervisor drops what is large
//! and nothing but data: the host's heap and the stacks of its threads. What it uses itself is its own stack, its
//! code, and what belongs to that.

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::raw::{self, AfterFork};

/// Less than this is not worth a call.
const LARGE: usize = 1 << 20;
/// What is left to this process of its stack, on both sides of where it is. Nothing returns to what is above.
const STACK: usize = 1 << 18;

/// What this process has in its memory, if the system says so.
pub(super) fn maps() -> Option<OwnedFd> {
    openat(CWD, c"/proc/self/maps", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Drops the host's memory, by the maps of this very process. Nothing that was on the heap can be used afterwards.
pub(super) fn give_back(maps: Option<OwnedFd>, after: &AfterFork) {
    let Some(file) = maps else { return };
    let mut line = Line::default();
    let mut buffer = [0; 4096];
    let here = std::ptr::addr_of!(buffer).addr() & !(STACK - 1);
    let (stack_start, stack_end) = (here.saturating_sub(STACK), here.saturating_add(2 * STACK));
    while let Ok(length @ 1..) = rustix::io::read(&file, &mut buffer) {
        for &byte in buffer.iter().take(length) {
            if byte != b'\n' {
                line.take(byte);
                continue;
            }
            if line.is_data() {
                // The kernel joins neighbours: the stack may be part of anything.
                drop_large(after, line.start, line.end.min(stack_start));
                drop_large(after, line.start.max(stack_end), line.end);
            }
            line = Line::default();
        }
    }
}

fn drop_large(after: &AfterFork, start: usize, end: usize) {
    if end.saturating_sub(start) >= LARGE {
        raw::forget(after, start, end);
    }
}

/// A line of `maps`, read byte by byte: `start-end rw-p offset device inode name`.
#[derive(Default)]
struct Line {
    start: usize,
    end: usize,
    /// Which word it is at, and how far in it.
    word: usize,
    place: usize,
    is_private: bool,
    is_file: bool,
    /// The first letters of the name.
    name: [u8; 6],
}

impl Line {
    fn take(&mut self, byte: u8) {
        if byte == b' ' && self.word < 5 {
            (self.word, self.place) = (self.word + 1, 0);
            return;
        }
        match self.word {
            0 if byte == b'-' => (self.start, self.end) = (self.end, 0),
            0 => self.end = (self.end << 4) | hexadecimal(byte),
            // The second of four letters: whether it can be written; the last: whether it is shared.
            1 if self.place == 1 => self.is_private = byte == b'w',
            1 if self.place == 3 => self.is_private &= byte == b'p',
            4 => self.is_file |= byte != b'0',
            5 if byte != b' ' || self.place > 0 => {
                if let Some(letter) = self.name.get_mut(self.place) {
                    *letter = byte;
                }
            }
            // The blanks before the name.
            5 => return,
            _ => {}
        }
        self.place += 1;
    }

    /// Whether it is memory of no file: without a name, the heap, or named by whoever allocated it.
    fn is_data(&self) -> bool {
        self.is_private && !self.is_file && matches!(&self.name, [0, ..] | b"[heap]" | b"[anon:")
    }
}

/// Where the environment lies that this process was started with. Read before the fork.
pub(in super::super) fn environment() -> Range<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    of_environment(&stat).unwrap_or_default()
}

/// The fields 50 and 51. The second, in brackets, is the program's name, which may hold anything.
fn of_environment(stat: &str) -> Option<Range<usize>> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(47).map(str::parse);
    Some(fields.next()?.ok()?..fields.next()?.ok()?)
}

fn hexadecimal(digit: u8) -> usize {
    usize::from(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Line {
        let mut line = Line::default();
        text.bytes().for_each(|byte| line.take(byte));
        line
    }

    #[test]
    fn the_environment_is_where_the_kernel_says() {
        let stat = format!("7 (a) b (c) S {} 11 22 0", ["1"; 46].join(" "));
        assert_eq!(of_environment(&stat), Some(11..22));
        assert_eq!(of_environment("7 (a) S 1 2"), None);
        let shown = std::fs::read("/proc/self/environ").unwrap();
        assert_eq!(environment().len(), shown.len());
    }

    #[test]
    fn what_is_data_is_told_from_what_is_not() {
        let heap = read("55d0c8a00000-55d0c8b21000 rw-p 00000000 00:00 0                          [heap]");
        assert_eq!((heap.start, heap.end), (0x55d0_c8a0_0000, 0x55d0_c8b2_1000));
        assert!(heap.is_data());
        for data in [
            "7f0000000000-7f0010000000 rw-p 00000000 00:00 0 ",
            "7f0000000000-7f0010000000 rw-p 00000000 00:00 0",
            "7f0000000000-7f0010000000 rw-p 00000000 00:00 0                          [anon:arena]",
        ] {
            assert!(read(data).is_data(), "{data}");
        }
        for other in [
            "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]",
            "7f0000000000-7f0010000000 rw-s 00000000 00:05 0 ",
            "7f0000000000-7f0010000000 r--p 00000000 00:00 0 ",
            "7f0000000000-7f0010000000 rw-p 00001000 fe:00 1234                       /usr/lib/libc.so.6",
            "7f0000000000-7f0010000000 rw-p 00001000 fe:00 10",
            "7ffc001d0000-7ffc001d2000 r-xp 00000000 00:00 0                          [vdso]",
        ] {
            assert!(!read(other).is_data(), "{other}");
        }
    }
}
