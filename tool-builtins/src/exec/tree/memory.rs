//! Releasing the memory that a supervisor shares with the host, after `fork`: system calls only.
//!
//! A forked process shares its parent's memory until one of them writes to it. The supervisor does not write, but the
//! host does, and every page it changes then exists twice while the command runs. So the supervisor releases large data
//! mappings: the host's heap and the stacks of its threads. It keeps its own stack and code.

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::raw::{self, AfterFork};

/// The minimum size worth a system call.
const MIN_RELEASED: usize = 1 << 20;
/// The number of bytes of the stack kept on both sides of the current position. The supervisor never returns further up.
const STACK: usize = 1 << 18;

/// Opens the memory map of this process, if `/proc` is available.
pub(super) fn maps() -> Option<OwnedFd> {
    openat(CWD, c"/proc/self/maps", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Releases the host's memory, as listed in the maps of this process. Nothing on the heap may be used afterwards.
pub(super) fn release(maps: Option<OwnedFd>, after: &AfterFork) {
    let Some(file) = maps else { return };
    let mut line = MapsLine::default();
    let mut buffer = [0; 4096];
    let here = std::ptr::addr_of!(buffer).addr() & !(STACK - 1);
    let (stack_start, stack_end) = (here.saturating_sub(STACK), here.saturating_add(2 * STACK));
    while let Ok(length @ 1..) = rustix::io::read(&file, &mut buffer) {
        for &byte in buffer.iter().take(length) {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            if line.is_data() {
                // The kernel merges neighbouring mappings, so the stack may be part of any of them.
                release_range(after, line.start, line.end.min(stack_start));
                release_range(after, line.start.max(stack_end), line.end);
            }
            line = MapsLine::default();
        }
    }
}

fn release_range(after: &AfterFork, start: usize, end: usize) {
    if end.saturating_sub(start) >= MIN_RELEASED {
        raw::release_memory(after, start, end);
    }
}

/// A line of `/proc/self/maps`, parsed byte by byte: `start-end rw-p offset device inode name`.
#[derive(Default)]
struct MapsLine {
    start: usize,
    end: usize,
    /// The current word, and the position within it.
    word: usize,
    position: usize,
    is_private: bool,
    is_file: bool,
    /// The first bytes of the name.
    name: [u8; 6],
}

impl MapsLine {
    fn push(&mut self, byte: u8) {
        if byte == b' ' && self.word < 5 {
            (self.word, self.position) = (self.word + 1, 0);
            return;
        }
        match self.word {
            0 if byte == b'-' => (self.start, self.end) = (self.end, 0),
            0 => self.end = (self.end << 4) | hexadecimal(byte),
            // Of the four permission letters, the second says writable and the fourth private.
            1 if self.position == 1 => self.is_private = byte == b'w',
            1 if self.position == 3 => self.is_private &= byte == b'p',
            4 => self.is_file |= byte != b'0',
            5 if byte != b' ' || self.position > 0 => {
                if let Some(letter) = self.name.get_mut(self.position) {
                    *letter = byte;
                }
            }
            // Blanks before the name.
            5 => return,
            _ => {}
        }
        self.position += 1;
    }

    /// Returns `true` for anonymous memory: unnamed, the heap, or named by an allocator.
    fn is_data(&self) -> bool {
        self.is_private && !self.is_file && matches!(&self.name, [0, ..] | b"[heap]" | b"[anon:")
    }
}

/// Returns the address range of this process's initial environment. Called before `fork`.
pub(in super::super) fn environment_range() -> Range<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    parse_environment_range(&stat).unwrap_or_default()
}

/// Parses fields 50 and 51 of `/proc/self/stat`. Field 2, the program's name in parentheses, may contain anything.
fn parse_environment_range(stat: &str) -> Option<Range<usize>> {
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

    fn read(text: &str) -> MapsLine {
        let mut line = MapsLine::default();
        text.bytes().for_each(|byte| line.push(byte));
        line
    }

    #[test]
    fn finds_the_environment() {
        let stat = format!("7 (a) b (c) S {} 11 22 0", ["1"; 46].join(" "));
        assert_eq!(parse_environment_range(&stat), Some(11..22));
        assert_eq!(parse_environment_range("7 (a) S 1 2"), None);
        let shown = std::fs::read("/proc/self/environ").unwrap();
        assert_eq!(environment_range().len(), shown.len());
    }

    #[test]
    fn recognizes_data_mappings() {
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
