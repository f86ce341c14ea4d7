//! An operator with an account, like those that `nsc` creates. Users and permissions are in credentials files.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

/// An operator, the account of its users, and the system account.
pub struct Operator {
    operator: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

impl Operator {
    pub fn new() -> Self {
        Self { operator: KeyPair::new_operator(), account: KeyPair::new_account(), system: KeyPair::new_account() }
    }

    /// Returns the lines of a server's configuration that trust the operator.
    pub fn configuration(&self) -> String {
        let operator = signed(&self.operator, &self.operator, "operator", json!({"type": "operator"}));
        let unlimited = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
        });
        let mut account = json!({"type": "account", "limits": unlimited});
        let tools = signed(&self.operator, &self.account, "tools", account.clone());
        for stored in ["mem_storage", "disk_storage", "streams", "consumer"] {
            // The system account must not have JetStream, or the server does not start.
            account["limits"][stored] = json!(0);
        }
        let system = signed(&self.operator, &self.system, "system", account);
        let (tools_key, system_key) = (self.account.public_key(), self.system.public_key());
        format!(
            "operator: {operator}\nsystem_account: {system_key}\nresolver: MEMORY\n\
             resolver_preload: {{ {tools_key}: {tools}, {system_key}: {system} }}\n"
        )
    }

    /// Creates a credentials file for a user with these permissions.
    pub fn credentials(&self, name: &str, permissions: &Permissions) -> String {
        let user = KeyPair::new_user();
        let mut claims = json!({"type": "user", "subs": -1, "data": -1, "payload": -1});
        if let Permissions::Only { publish, subscribe } = permissions {
            claims["pub"] = json!({"allow": publish});
            claims["sub"] = json!({"allow": subscribe});
            let hour: u64 = 3_600_000_000_000;
            claims["resp"] = json!({"max": 100_000, "ttl": hour});
        }
        let token = signed(&self.account, &user, name, claims);
        let seed = user.seed().unwrap();
        format!(
            "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// The permissions of a user.
pub enum Permissions {
    All,
    Only { publish: Vec<String>, subscribe: Vec<String> },
}

/// Signs a token.
fn signed(issuer: &KeyPair, subject: &KeyPair, name: &str, mut claims: Value) -> String {
    let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    claims["version"] = json!(2);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (issuer_key, subject_key) = (issuer.public_key(), subject.public_key());
    let header = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let claims = json!({
        "jti": subject_key, "iat": now, "iss": issuer_key, "sub": subject_key, "name": name, "nats": claims,
    });
    let text = format!("{}.{}", encoded(&header), encoded(&claims));
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}
