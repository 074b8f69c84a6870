//! Writes a file, lists the directory, and reads the file back:
//! `cargo run -p hayase-client --example hello -- nfs://localhost/srv/data?version=4.2`

use hayase_client::{Mount, Options, Stable, Url};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url: Url =
        std::env::args().nth(1).ok_or("say which directory: nfs://HOST/PATH")?.parse()?;
    let mount = Mount::new(&url, &Options::default())?;
    let file = mount.create(&mount.root(), "hello", 0o644)?.file;
    mount.write(&file, 0, b"hello, world", Stable::FileSync)?;
    for entry in mount.readdir(&mount.root(), true) {
        let entry = entry?;
        println!("{:>12} {}", entry.attributes.map_or(0, |known| known.size), entry.name);
    }
    let mut bytes = [0; 64];
    let count = mount.read(&file, 0, &mut bytes)?;
    println!("{}", String::from_utf8_lossy(&bytes[..count]));
    Ok(mount.close(file)?)
}
