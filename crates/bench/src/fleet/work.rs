//! What a client is to do, in words that can be sent.

use std::time::Duration;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::engine::Plan;
use crate::job::{Job, group};

/// What a client is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Against what.
    pub target: String,
    /// Which jobs.
    pub jobs: Vec<JobText>,
    /// Threads that speak to an `nfs://` target; as many as the client's cores, if it is not said.
    pub threads: Option<u32>,
    /// How long an operation may take on an `nfs://` target, in ms.
    pub timeout_millis: u64,
    /// Whether to take down where the time of operations goes.
    pub breakdown: bool,
}

/// How long an operation may take, unless it is said.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A job in fio's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobText {
    /// Its name.
    pub name: String,
    /// Its options as given.
    pub options: Vec<(String, String)>,
}

impl Work {
    /// One job against a target, and the defaults for the rest.
    pub fn new(target: &str, name: &str, options: Vec<(String, String)>) -> Self {
        Work {
            target: target.to_owned(),
            jobs: vec![JobText { name: name.to_owned(), options }],
            threads: None,
            timeout_millis: TIMEOUT.as_millis() as u64,
            breakdown: false,
        }
    }

    /// A plan in words.
    pub fn of(plan: &Plan) -> Self {
        let text = |job: &Job| {
            // Where the files lie may have been changed since it was given.
            let given = job.given.iter().filter(|(key, _)| key != "directory" && key != "filename");
            let mut options: Vec<_> = given.cloned().collect();
            for (key, path) in [("directory", &job.directory), ("filename", &job.filename)] {
                options.extend(path.iter().map(|path| (key.to_owned(), path.clone())));
            }
            JobText { name: job.name.clone(), options }
        };
        Work {
            target: plan.target.to_string(),
            jobs: plan.jobs.iter().map(text).collect(),
            threads: plan.threads,
            timeout_millis: plan.timeout.as_millis() as u64,
            breakdown: plan.breakdown,
        }
    }

    /// The words as a plan. Errors name the option that is wrong.
    pub fn plan(&self) -> Result<Plan> {
        let job = |text: &JobText| {
            // A name is given for itself here, and may have been changed since.
            let options = text.options.iter().filter(|(key, _)| key != "name");
            Job::with(&text.name, options.map(|(key, value)| (key.as_str(), value.as_str())))
        };
        let mut jobs = self.jobs.iter().map(job).collect::<Result<Vec<_>>>()?;
        group(&mut jobs);
        let target = self.target.parse().map_err(|wrong| anyhow!("{wrong}"))?;
        Ok(Plan {
            target,
            jobs,
            threads: self.threads,
            timeout: Duration::from_millis(self.timeout_millis),
            breakdown: self.breakdown,
            command: Vec::new(),
        })
    }

    /// The same for a client of its own: files that are named after the job get other names than those
    /// of the other clients. A `filename=` is left as it is, and so is one file for all.
    #[must_use]
    pub fn of_client(&self, client: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let client: String = client.chars().map(plain).collect();
        let own = |(key, value): &(String, String)| match key.as_str() {
            "filename_format" if !value.contains("$jobname") => {
                (key.clone(), format!("{client}.{value}"))
            }
            _ => (key.clone(), value.clone()),
        };
        let rename = |job: &JobText| JobText {
            name: format!("{}.{client}", job.name),
            options: job.options.iter().map(own).collect(),
        };
        Work { jobs: self.jobs.iter().map(rename).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_goes_through_words() {
        let job = Job::with("a", [("rw", "randread"), ("bs", "8k"), ("stonewall", "1")]).unwrap();
        let mut second = job.clone();
        "b".clone_into(&mut second.name);
        let mut jobs = vec![job, second];
        group(&mut jobs);
        let plan = Plan {
            target: "file:///tmp".parse().unwrap(),
            jobs,
            threads: Some(3),
            timeout: Duration::from_secs(7),
            breakdown: true,
            command: Vec::new(),
        };
        let work = Work::of(&plan);
        let back = work.plan().unwrap();
        assert_eq!((back.jobs, back.target, back.breakdown), (plan.jobs, plan.target, true));
        assert_eq!((back.threads, back.timeout), (plan.threads, plan.timeout));
        assert_eq!(work.of_client("host/1").jobs[0].name, "a.host-1");
        let format = ("filename_format".to_owned(), "x.$jobnum".to_owned());
        let work_of_format = Work::new("file:///tmp", "a", vec![format]);
        assert_eq!(work_of_format.of_client("c").jobs[0].options[0].1, "c.x.$jobnum");
        let words = serde_json::to_string(&work).unwrap();
        assert_eq!(serde_json::from_str::<Work>(&words).unwrap(), work);
    }

    #[test]
    fn where_files_lie_is_as_it_was_settled() {
        let mut job = Job::with("a", [("directory", "/given"), ("filename", "x")]).unwrap();
        job.directory = None;
        job.filename = Some("y".to_owned());
        let plan = Plan {
            target: "file:///tmp".parse().unwrap(),
            jobs: vec![job],
            threads: None,
            timeout: Duration::from_secs(1),
            breakdown: false,
            command: Vec::new(),
        };
        let back = Work::of(&plan).plan().unwrap().jobs.remove(0);
        assert_eq!((back.directory, back.filename.as_deref()), (None, Some("y")));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let bad = |key: &str| Work::new("file:///tmp", "a", vec![(key.into(), "x".into())]);
        let error = format!("{:#}", bad("bs").plan().err().unwrap());
        assert!(error.contains("bs=x"), "{error}");
        assert!(bad("zz").plan().is_err());
        assert!(Work { target: "zz".to_owned(), ..bad("bs") }.plan().is_err());
    }
}
