//! Recursive types, directly or through others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::tool;

/// A tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    pub name: String,
    #[serde(default)]
    pub children: Vec<Tree>,
    pub parent: Option<Box<Tree>>,
}

/// A chicken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chicken {
    pub egg: Option<Box<Egg>>,
}

/// An egg.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Egg {
    pub chickens: BTreeMap<String, Chicken>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    Number(f64),
    Sum(Vec<Expression>),
    Negated(Box<Expression>),
    Let { name: String, value: Box<Expression> },
}

/// Lists of lists, with nothing else inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lists(pub Vec<Lists>);

/// A tree, a part of one, or none.
#[tool(name = "recursive.tree")]
pub fn tree(tree: Tree, other: Option<&Tree>, forest: Vec<Tree>) -> usize {
    fn count(tree: &Tree) -> usize {
        1 + tree.children.iter().map(count).sum::<usize>()
    }
    count(&tree) + other.map_or(0, count) + forest.iter().map(count).sum::<usize>()
}

/// Types that refer to each other.
#[tool(name = "recursive.mutual")]
pub fn mutual(chicken: Chicken, egg: Egg) -> (Chicken, Egg) {
    (chicken, egg)
}

/// An enum that holds itself.
#[tool(name = "recursive.expression")]
pub fn expression(expression: Expression) -> Expression {
    expression
}

/// A newtype that holds itself.
#[tool(name = "recursive.lists")]
pub fn lists(lists: Lists, more: Vec<Lists>) -> usize {
    lists.0.len() + more.len()
}

/// A node that calls itself by its short name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node<T> {
    pub value: T,
    #[serde(default)]
    pub children: Vec<Self>,
}

/// A term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Term {
    Number(u8),
    Sum(Box<Self>, Box<Self>),
}

/// Types that call themselves `Self`.
#[tool(name = "recursive.own_name")]
pub fn own_name(node: Node<u8>, named: Option<Node<String>>, term: Term) -> (Node<u8>, Option<Node<String>>, Term) {
    (node, named, term)
}

pub mod renamed {
    //! Derives under other names, handed on once.

    pub use schemars::JsonSchema as Described;
    use serde::Deserialize as Read;
    use serde::Serialize as Written;
    use tool_runtime::tool;

    /// A leaf.
    #[derive(Clone, Debug, PartialEq, Written, Read, super::renamed::Described)]
    pub struct Leaf {
        /// The shade of green.
        pub green: u8,
    }

    /// A type whose derives have other names.
    #[tool(name = "recursive.renamed_derives")]
    pub fn renamed_derives(leaf: Leaf) -> Leaf {
        leaf
    }
}
