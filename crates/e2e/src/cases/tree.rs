//! Many files in and out.

use anyhow::Result;

use super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;
use crate::work::tree;

/// The tests of this theme.
pub const CASES: &[Case] = &[Case::new(
    "tree.copy",
    "a tree of many files copied in, summed on both sides, and copied out",
    copy,
)
.limit_secs(900)];

fn copy(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=4")?;
    let files = scene.size(5_000, 50_000);
    client.check(&format!("$E2E work tree-make /run/tmp/tree {files}"))?;
    let wanted = client.check("$E2E work tree-sum /run/tmp/tree")?;
    scene.note(format!("the tree: {}", wanted.trim()));
    client.check(&format!("cp -a /run/tmp/tree {MOUNT}/tree && sync"))?;
    scene.note("copied in");
    let there = tree::sum(&scene.directory().join("tree"))?;
    same!(there.to_string(), wanted.trim(), "the tree on the server");
    client.drop_caches()?;
    client.check(&format!("rm -rf /run/tmp/tree && cp -a {MOUNT}/tree /run/tmp/out"))?;
    same!(client.check("$E2E work tree-sum /run/tmp/out")?, wanted, "the tree copied out");
    scene.note("copied out");
    Ok(())
}
