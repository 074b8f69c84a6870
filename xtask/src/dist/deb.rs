//! The Debian package.
//!
//! Debian's own `dpkg-deb` packs it and `dpkg-shlibdeps` finds what it depends on: they are where a
//! Debian package is made, and say what is wrong with one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Release, output, tree};
use crate::command::root;

const CONFIGURATION: &str = "etc/hayase/hayase.toml";
const MAINTAINER: &str = "The Hayase developers <hayase@localhost>";

/// Builds the package and answers where it is.
pub(super) fn build(release: &Release, out: &Path) -> Result<PathBuf> {
    let stage = out.join("deb");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    tree::fill(release, &stage.join("usr"))?;
    fs::create_dir_all(stage.join("etc/exports.d"))?;
    tree::copy(&root().join("docs/hayase.toml"), &stage.join(CONFIGURATION), 0o644)?;
    debian_doc(release, &stage.join("usr/share/doc/hayase"))?;
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))
        .context("a Debian package is built on Debian")?;
    control(release, &stage, &architecture)?;
    let package = out.join(format!("hayase_{}_{architecture}.deb", release.version));
    output(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "--build"])
            .args([&stage, &package])
            .env("SOURCE_DATE_EPOCH", &release.epoch_secs),
    )?;
    fs::remove_dir_all(&stage)?;
    Ok(package)
}

/// Debian has licences and changes elsewhere.
fn debian_doc(release: &Release, doc: &Path) -> Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::remove_file(doc.join(name))?;
    }
    let changelog = doc.join("changelog");
    let mail_date = format!("--date=@{}", release.epoch_secs);
    let date = output(Command::new("date").args(["--utc", "--rfc-email"]).arg(mail_date))?;
    let version = &release.version;
    tree::write(
        &changelog,
        &format!(
            "hayase ({version}) stable; urgency=medium\n\n  \
             * /usr/share/doc/hayase/CHANGELOG.md says what is new.\n\n \
             -- {MAINTAINER}  {date}\n"
        ),
    )?;
    output(Command::new("gzip").args(["--best", "--no-name"]).arg(&changelog))?;
    let template = fs::read_to_string(root().join("packaging/debian/copyright"))?;
    let mit = fs::read_to_string(root().join("LICENSE-MIT"))?;
    let paragraph = |line: &str| if line.is_empty() { " .".to_owned() } else { format!(" {line}") };
    let mit: Vec<_> = mit.lines().map(paragraph).collect();
    let mit = format!("License: MIT\n{}", mit.join("\n"));
    tree::write(&doc.join("copyright"), &template.replace("@MIT@", &mit))
}

fn control(release: &Release, stage: &Path, architecture: &str) -> Result<()> {
    let packaging = root().join("packaging/debian");
    let to = stage.join("DEBIAN");
    fs::create_dir_all(&to)?;
    let kilobytes = output(Command::new("du").args(["-sk", "--apparent-size"]).arg(stage))?;
    let kilobytes = kilobytes.split_whitespace().next().context("du said nothing")?.to_owned();
    let text = fs::read_to_string(packaging.join("control"))?
        .replace("@MAINTAINER@", MAINTAINER)
        .replace("@VERSION@", &release.version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@INSTALLED_SIZE@", &kilobytes)
        .replace("@DEPENDS@", &depends(&release.program, stage)?);
    tree::write(&to.join("control"), &text)?;
    // Kept as the administrator has changed it.
    tree::write(&to.join("conffiles"), &format!("/{CONFIGURATION}\n"))?;
    for script in ["postinst", "prerm", "postrm"] {
        tree::copy(&packaging.join(script), &to.join(script), 0o755)?;
    }
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// The packages with the libraries that the program is linked to, in the versions that it needs.
fn depends(program: &Path, stage: &Path) -> Result<String> {
    // It wants a source package around itself.
    let source = stage.with_file_name("shlibdeps");
    tree::write(
        &source.join("debian/control"),
        "Source: hayase\n\nPackage: hayase\nArchitecture: any\n",
    )?;
    let found = output(
        Command::new("dpkg-shlibdeps").arg("-O").arg("-e").arg(program).current_dir(&source),
    )
    .context("dpkg-shlibdeps of the package dpkg-dev is needed")?;
    fs::remove_dir_all(&source)?;
    let depends = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    Ok(depends.context("dpkg-shlibdeps found nothing")?.to_owned())
}
