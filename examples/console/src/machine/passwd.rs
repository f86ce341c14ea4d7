//! Users of the machine.

use std::fs;
use std::io;

use serde::Serialize;
use sysinfo::Users;

use super::Machine;

/// The first id of regular users on Debian.
const FIRST_PERSON: u32 = 1000;

/// The id of the system account `nobody`, which is in the range of regular users.
const NOBODY: u32 = 65_534;

/// A user of the machine. Passwords are not read.
#[derive(Clone, Debug, Serialize)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The user id.
    pub id: u32,
    /// The comment field, usually the full name.
    pub about: String,
    /// The user's home.
    pub home: String,
    /// The login shell.
    pub shell: String,
    /// `true` for regular users and root, `false` for service accounts.
    pub is_person: bool,
    /// `true` if the shell permits logins.
    pub can_log_in: bool,
}

impl Machine {
    /// Returns all users, sorted by id.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn users(&self) -> io::Result<Vec<User>> {
        let mut users: Vec<User> = fs::read_to_string(&self.places().passwd)?.lines().filter_map(read).collect();
        users.sort_by_key(|user| user.id);
        Ok(users)
    }

    /// Returns the groups of a user, sorted.
    #[must_use]
    pub fn groups_of(&self, name: &str) -> Vec<String> {
        let users = Users::new_with_refreshed_list();
        let groups = users.list().iter().find(|user| user.name() == name).map(sysinfo::User::groups);
        let mut names: Vec<String> = groups.into_iter().flatten().map(|group| group.name().to_owned()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Parses a line `name:password:id:group:about:home:shell`.
fn read(line: &str) -> Option<User> {
    let [name, _, id, _, about, home, shell] = line.split(':').collect::<Vec<_>>().try_into().ok()?;
    let id = id.parse().ok()?;
    Some(User {
        name: name.to_owned(),
        id,
        about: about.trim_end_matches(',').to_owned(),
        home: home.to_owned(),
        shell: shell.to_owned(),
        is_person: id == 0 || (id >= FIRST_PERSON && id != NOBODY),
        can_log_in: !(shell.ends_with("/nologin") || shell.ends_with("/false") || shell.ends_with("/sync")),
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn services_are_told_from_people() {
        let person = read("ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash").expect("a user");
        assert!(person.is_person && person.can_log_in);
        assert_eq!(person.about, "Ada");
        let service = read("www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin").expect("a user");
        assert!(!service.is_person && !service.can_log_in);
        assert!(!read("nobody:x:65534:65534:nobody:/:/usr/sbin/nologin").expect("a user").is_person);
        assert!(read("too:few:fields").is_none());
    }
}
