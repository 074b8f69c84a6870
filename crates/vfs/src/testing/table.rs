//! Which checks there are, and how they are run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::checks;
use super::{Capability, Fixture, Scene};

/// One check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its group and what it says, like `rename::replaces_a_file`.
    pub name: &'static str,
    /// What it needs.
    pub needs: &'static [Capability],
    /// What it does.
    pub body: Body,
}

/// How a check goes.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// In one act.
    Scene(fn(&Scene<'_>)),
    /// In several, with restarts in between.
    Play(fn(&dyn Fixture)),
}

impl Check {
    /// The first thing that the check needs and the fixture cannot do.
    pub fn lacks(&self, fixture: &dyn Fixture) -> Option<Capability> {
        self.needs.iter().copied().find(|need| !fixture.can(*need))
    }

    fn perform(&self, fixture: &dyn Fixture) {
        match self.body {
            Body::Scene(scene) => fixture.play(&mut [&mut |fs| scene(&Scene::of(fixture, fs))]),
            Body::Play(play) => play(fixture),
        }
    }
}

/// Runs the check of this name, or prints why not.
pub fn run_check(fixture: &dyn Fixture, name: &str) {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap();
    match check.lacks(fixture) {
        Some(need) => println!("left out {name}: it needs {need:?}"),
        None => check.perform(fixture),
    }
}

/// Runs all checks; prints those left out and those that fail.
///
/// # Panics
/// If one fails, at the end.
pub fn run(fixture: &dyn Fixture) {
    let mut failed = Vec::new();
    for check in CHECKS {
        let outcome = catch_unwind(AssertUnwindSafe(|| run_check(fixture, check.name)));
        if outcome.is_err() {
            println!("failed: {}", check.name);
            failed.push(check.name);
        }
    }
    assert!(failed.is_empty(), "{} of {} checks failed: {failed:#?}", failed.len(), CHECKS.len());
}

/// Makes a `#[test]` of every check of the suite.
///
/// ```ignore
/// hayase_vfs::conformance!(MyFixture::new());
/// ```
///
/// The expression makes a [`Fixture`](crate::testing::Fixture); it stands in
/// a module of its own below the present one. A check that needs what the fixture cannot do is
/// left out, which is printed.
#[macro_export]
macro_rules! conformance {
    ($fixture:expr) => {
        $crate::conformance! { @checks tests $fixture }
    };
    (@tests [$fixture:expr] $($group:ident $kind:ident { $($check:ident)* })*) => {
        $(mod $group {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                fn $check() {
                    let name = concat!(stringify!($group), "::", stringify!($check));
                    $crate::testing::run_check(&$fixture, name);
                }
            )*
        })*
    };
    (@table [] $($group:ident $kind:ident { $($check:ident)* })*) => {
        &[$($(Check {
            name: concat!(stringify!($group), "::", stringify!($check)),
            needs: checks::$group::NEEDS,
            body: Body::$kind(checks::$group::$check),
        },)*)*]
    };
    (@checks $what:ident $($arg:tt)*) => {
        $crate::conformance! { @$what [$($arg)*]
            attrs Scene {
                mode_bits_are_kept
                times_are_kept
                new_files_take_attributes
                the_guard_is_the_ctime
                truncation_cuts_and_extends
                only_regular_files_have_a_size_to_set
                a_file_has_a_largest_size
                setting_nothing_changes_nothing
                file_ids_tell_files_apart
                birth_times_never_change
                file_systems_describe_themselves
            }
            names Scene {
                a_new_file_is_empty
                guarded_creation_refuses_what_exists
                unchecked_creation_takes_the_file_as_it_is
                unchecked_creation_refuses_other_types
                lookups_do_not_follow_links
                names_are_bytes
                the_longest_name_is_as_told
                case_matters_unless_told_otherwise
                only_directories_hold_names
                a_directory_knows_its_parent
                remove_takes_what_is_no_directory
                removing_a_link_leaves_its_target
                only_empty_directories_go
            }
            rename Scene {
                moves_files_and_directories
                replaces_a_file
                replaces_one_of_several_names
                onto_itself_does_nothing
                between_names_of_one_file_does_nothing
                replaces_an_empty_directory
                keeps_a_directory_that_is_not_empty
                keeps_types_apart
                not_into_its_own_subtree
                not_over_what_it_lies_in
                moves_links_not_targets
                needs_something_to_move
                counts_subdirectories
                leaves_data_and_times_of_the_file
            }
            links Scene {
                a_file_can_have_several_names
                a_link_takes_no_name_away
                directories_have_one_name
                links_to_links_are_not_followed
                special_files_can_have_several_names
                targets_are_bytes
                impossible_targets_are_refused
                only_links_have_a_target
            }
            special Scene {
                nodes_are_what_was_asked_for
                pipes_are_not_opened
                data_is_in_regular_files_only
                new_directories_are_empty
            }
            devices Scene {
                numbers_are_kept
                devices_are_not_opened
                they_are_for_the_superuser
            }
            permissions Scene {
                mode_bits_rule_files
                mode_bits_rule_directories
                the_superuser_may
                owners_can_always_read_and_write
                who_opened_a_file_can_go_on
                times_are_set_by_owners_and_writers
                sticky_directories_protect_files
                renaming_needs_both_directories
                identities_do_not_leak
            }
            ownership Scene {
                new_files_are_their_makers
                set_group_id_directories_hand_their_group_on
                only_the_superuser_gives_files_away
                files_can_be_made_for_others_by_the_superuser
                only_owners_change_modes
                set_id_bits_do_not_outlive_a_change
                cutting_a_file_needs_permission_to_write
            }
            data Scene {
                reads_end_at_the_end
                reading_nothing_reads_nothing
                holes_are_zeros
                offsets_have_64_bits
                writes_go_where_they_belong
                long_transfers_arrive_whole
                writing_nothing_changes_nothing
                a_file_is_not_its_predecessor
                writers_side_by_side_do_not_mix
            }
            stability Scene {
                data_is_as_stable_as_asked
                any_range_can_be_committed
                asynchronous_changes_are_seen_at_once
            }
            exclusive Scene {
                a_repeated_call_finds_its_file
                attributes_can_come_with_it
                others_are_refused
                what_existed_is_refused
                the_client_sets_attributes_afterwards
            }
            listing Scene {
                of_an_empty_directory_shows_dots
                shows_everything_once
                brings_nodes_if_asked
                goes_on_behind_any_entry
                loses_no_entry_that_had_no_room
                of_an_odd_cookie_does_no_harm
            }
            paging Scene {
                while_what_was_listed_goes
                while_some_of_what_is_to_come_goes
                while_others_come
                while_others_are_renamed
                while_all_of_it_goes
                while_others_work_in_it
            }
            handles Scene {
                of_a_removed_file_is_stale
                of_a_removed_directory_is_stale
                of_a_removed_link_is_stale
                is_not_that_of_a_later_file
                survives_renames
                survives_the_loss_of_its_first_name
                is_the_same_from_everywhere
                that_never_was_is_refused
            }
            changes Scene {
                of_files_are_seen
                of_directories_are_seen
            }
            acls Scene {
                lists_are_kept
                mode_and_list_agree
                new_files_inherit_them
                they_rule
                owners_set_them
            }
            labels Scene {
                are_kept_and_set_by_owners
            }
            xattrs Scene {
                values_are_kept
                creating_and_replacing_differ
                names_are_listed_in_pages
                they_have_limits
                they_change_the_file
                they_go_with_the_file
                other_types_have_none
                permissions_are_those_of_data
            }
            ranges Scene {
                holes_and_data_are_found
                nothing_is_found_behind_the_end
                allocating_extends_with_zeros
                deallocating_leaves_zeros
                copies_are_whole
                copies_within_a_file_do_not_overlap
                clones_are_independent
                hints_do_no_harm
                permissions_are_those_of_reads_and_writes
            }
            locks Scene {
                clients_are_not_in_each_others_way
                only_regular_files_have_them
            }
            restart Play {
                handles_stay
                handles_of_renamed_files_stay
                verifiers_change
                exclusive_creation_can_be_repeated
                file_systems_and_files_keep_their_ids
            }
        }
    };
}

/// All checks.
pub static CHECKS: &[Check] = crate::conformance! { @checks table };
