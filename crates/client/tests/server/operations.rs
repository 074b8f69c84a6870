//! Every operation, in every version.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime};

use hayase_client::{
    Access, Create, FileType, Mount, Name, OpenHow, SetAttributes, SetTime, Stable, Status, Time,
    Version, access,
};

use crate::lab::{Lab, for_each_version, mount_list_bytes};

#[test]
fn files_are_made_written_read_and_removed() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let root = mount.root();
        let name = format!("file-{version}");
        let opened = mount.open(&root, &name, OpenHow::create_new(0o640)).unwrap();
        let file = opened.file;
        let data: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let verifier = mount.write(&file, 5, &data, Stable::Unstable).unwrap();
        assert_eq!(mount.commit(&file).unwrap(), verifier);
        let on_disk = fs::read(lab.export.join(&name)).unwrap();
        assert!(on_disk[..5] == [0; 5] && on_disk[5..] == data);

        let mut read = vec![9; 300_010];
        assert_eq!(mount.read(&file, 0, &mut read).unwrap(), 300_005);
        assert!(read[5..300_005] == data && read[300_005..] == [9; 5]);
        assert_eq!(mount.read(&file, 400_000, &mut read).unwrap(), 0);
        let mut few = [0; 7];
        assert_eq!(mount.read(&file, 6, &mut few).unwrap(), 7);
        assert_eq!(few, data[1..8]);

        mount.truncate(&file, 3).unwrap();
        let attributes = mount.getattr(file.handle()).unwrap();
        assert_eq!((attributes.kind, attributes.size, attributes.links), (FileType::File, 3, 1));
        mount.close(file.clone()).unwrap();

        let again = mount.open(&root, &name, OpenHow::create_new(0o600)).unwrap_err();
        assert!(again.is(Status::EXIST), "{again}");
        let made = Create::IfMissing(SetAttributes { size: Some(0), ..SetAttributes::mode(0o600) });
        let emptied =
            mount.open(&root, &name, OpenHow { access: Access::Both, create: made }).unwrap();
        assert_eq!(emptied.file.handle(), file.handle());
        assert_eq!(fs::metadata(lab.export.join(&name)).unwrap().len(), 0);
        mount.close(emptied.file).unwrap();
        mount.remove(&root, &name).unwrap();
        let gone = mount.open(&root, &name, OpenHow::READ).unwrap_err();
        assert!(gone.is(Status::NOENT), "{gone}");
        assert!(gone.to_string().contains("ERR_NOENT"), "{gone}");
    });
}

#[test]
fn who_has_gone_is_not_in_the_list_of_mounts() {
    let lab = Lab::start();
    if !lab.is_own() {
        eprintln!("skipped: another server's list has others in it");
        return;
    }
    let lane = {
        let mount = lab.mount(Version::V3);
        assert!(mount_list_bytes(lab.address()) > 4);
        mount.lane(1, 1).unwrap()
    };
    assert!(mount_list_bytes(lab.address()) > 4, "its lane is still there");
    drop(lane);
    assert_eq!(mount_list_bytes(lab.address()), 4);
}

#[test]
fn names_are_made_moved_listed_and_removed() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let top = mount.mkdir(&mount.root(), format!("top-{version}"), 0o755).unwrap().handle;
        let path = lab.export.join(format!("top-{version}"));
        let made = mount.mkdir(&top, "dir", 0o700).unwrap();
        assert_eq!(made.attributes.unwrap().kind, FileType::Directory);
        assert_eq!(mount.lookup(&top, "dir").unwrap().handle, made.handle);
        assert_eq!(mount.walk(&top, "dir").unwrap(), made.handle);
        let file = mount.create(&made.handle, "a", 0o644).unwrap().file;
        mount.close(file.clone()).unwrap();
        mount.link(file.handle(), &top, "b").unwrap();
        assert_eq!(mount.getattr(file.handle()).unwrap().links, 2);
        mount.rename(&made.handle, "a", &top, "c").unwrap();
        let link = mount.symlink(&top, "link", "some/where").unwrap();
        assert_eq!(&*mount.readlink(&link.handle).unwrap(), b"some/where");
        assert_eq!(fs::read_link(path.join("link")).unwrap().to_str(), Some("some/where"));

        for with_attributes in [false, true] {
            let entries: Vec<_> =
                mount.readdir(&top, with_attributes).collect::<Result<_, _>>().unwrap();
            let names: BTreeSet<_> = entries.iter().map(|entry| entry.name.to_string()).collect();
            assert_eq!(names, ["b", "c", "dir", "link"].map(str::to_owned).into());
            for entry in &entries {
                let on_disk = fs::symlink_metadata(path.join(entry.name.to_string())).unwrap();
                assert_eq!(entry.fileid, on_disk.ino());
                assert_eq!(entry.attributes.is_some(), with_attributes, "{entry:?}");
                assert_eq!(entry.handle.is_some(), with_attributes);
            }
        }
        mount.rmdir(&top, "dir").unwrap();
        for name in ["b", "c", "link"] {
            mount.remove(&top, name).unwrap();
        }
        assert_eq!(mount.readdir(&top, true).count(), 0);
    });
}

#[test]
fn long_directories_are_listed_part_by_part() {
    let lab = Lab::start();
    for number in 0..3_000 {
        fs::write(lab.export.join(format!("a-file-with-a-rather-long-name-{number}")), "").unwrap();
    }
    for_each_version(|version| {
        let mount = lab.mount(version);
        for with_attributes in [false, true] {
            let names: BTreeSet<Name> = mount
                .readdir(&mount.root(), with_attributes)
                .map(|entry| entry.unwrap().name)
                .collect();
            assert_eq!(names.len(), 3_000);
        }
    });
}

#[test]
fn attributes_are_told_and_set() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let name = format!("attributes-{version}");
        let file = mount.create(&mount.root(), &name, 0o600).unwrap().file;
        let then = Time::from(SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000));
        let set = SetAttributes {
            mode: Some(0o604),
            modified: Some(SetTime::To(then)),
            accessed: Some(SetTime::Now),
            ..SetAttributes::default()
        };
        mount.setattr(file.handle(), set).unwrap();
        let told = mount.getattr(file.handle()).unwrap();
        assert_eq!((told.mode, told.modified), (0o604, then));
        let on_disk = fs::metadata(lab.export.join(&name)).unwrap();
        assert_eq!(on_disk.permissions().mode() & 0o777, 0o604);
        assert_eq!(told.fileid, on_disk.ino());
        // Another server of NFSv4 may tell names instead of numbers.
        let numbers = version == Version::V3 || lab.is_own();
        assert!(!numbers || told.uid.is_some() && told.gid.is_some(), "{told:?}");
        assert_eq!(told.uid.unwrap_or(on_disk.uid()), on_disk.uid());
        assert_eq!(told.gid.unwrap_or(on_disk.gid()), on_disk.gid());
        mount.setattr(file.handle(), SetAttributes::size(77)).unwrap();
        assert_eq!(mount.getattr(file.handle()).unwrap().size, 77);
        let allowed = mount.access(file.handle(), access::READ | access::EXECUTE).unwrap();
        assert_eq!(allowed, access::READ);
        mount.close(file).unwrap();
        let stat = mount.fsstat(&mount.root()).unwrap();
        assert!(stat.total_bytes >= stat.free_bytes && stat.free_bytes > 0, "{stat:?}");
        let info = mount.server();
        assert_eq!(info.address, lab.address());
        assert_eq!(info.owner.is_empty(), !version.has_sessions());
        let called = info.implementation.as_ref().map(|implementation| &*implementation.name);
        assert_eq!(called.is_some_and(|name| name.starts_with("Hayase ")), version.has_sessions());
    });
}

#[test]
fn what_cannot_be_mounted_is_told_with_its_name() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mut url = lab.url(version);
        url.path.push_str("/missing");
        let error = Mount::new(&url, &crate::lab::options()).unwrap_err();
        assert!(error.is(Status::NOENT), "{error}");
        assert!(error.to_string().contains("missing"), "{error}");
    });
}
