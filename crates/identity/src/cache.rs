//! Answers that are remembered.

use std::collections::HashMap;
use std::time::Instant;

use crate::question::{Answer, Question};

/// Groups that weigh as much as an answer without any.
const GROUPS_OF_ONE: usize = 16;

/// An answer, and until when it is good.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// None if the name service failed.
    pub(crate) answer: Option<Answer>,
    pub(crate) until: Instant,
}

/// Bounded memory. What was asked for lately stays: answers are in two halves, and when the young
/// one is full, the old one is dropped and the young one becomes old.
#[derive(Debug)]
pub(crate) struct Cache {
    young: HashMap<Question, Kept>,
    old: HashMap<Question, Kept>,
    /// What the young half weighs.
    weight: usize,
    half: usize,
}

impl Cache {
    pub(crate) fn new(limit: usize) -> Self {
        let (young, old) = Default::default();
        Cache { young, old, weight: 0, half: (limit / 2).max(1) }
    }

    /// What is remembered, good or not.
    pub(crate) fn find(&mut self, question: &Question) -> Option<Kept> {
        if let Some(kept) = self.young.get(question) {
            return Some(kept.clone());
        }
        let kept = self.old.remove(question)?;
        self.keep(question.clone(), kept.clone());
        Some(kept)
    }

    pub(crate) fn keep(&mut self, question: Question, kept: Kept) {
        self.old.remove(&question);
        let weight = weight(&kept);
        if self.weight + weight > self.half {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        if let Some(before) = self.young.insert(question, kept) {
            self.weight -= self::weight(&before);
        }
    }

    pub(crate) fn forget(&mut self) {
        self.young.clear();
        self.old.clear();
        self.weight = 0;
    }
}

fn weight(kept: &Kept) -> usize {
    match &kept.answer {
        Some(Answer::Groups(groups)) => 1 + groups.len() / GROUPS_OF_ONE,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(answer: Answer) -> Kept {
        Kept { answer: Some(answer), until: Instant::now() }
    }

    #[test]
    fn what_is_used_stays_and_the_rest_is_bounded() {
        let mut cache = Cache::new(100);
        cache.keep(Question::UserName(0), kept(Answer::Nobody));
        for uid in 1..1000 {
            cache.keep(Question::UserName(uid), kept(Answer::Nobody));
            assert!(cache.find(&Question::UserName(0)).is_some(), "{uid}");
            assert!(cache.young.len() + cache.old.len() <= 100);
        }
        assert!(cache.find(&Question::UserName(1)).is_none());
        cache.forget();
        assert!(cache.find(&Question::UserName(0)).is_none());
    }

    #[test]
    fn long_lists_weigh_more() {
        let mut cache = Cache::new(100);
        for uid in 0..1000 {
            let groups = Answer::Groups((0..160).collect());
            cache.keep(Question::Groups(uid), kept(groups));
        }
        assert!(cache.young.len() + cache.old.len() <= 100 / 11 + 1);
    }

    #[test]
    fn an_answer_takes_the_place_of_the_one_before() {
        let mut cache = Cache::new(100);
        for id in 0..1000 {
            cache.keep(Question::GroupName(1), kept(Answer::Id(id)));
        }
        assert_eq!(cache.find(&Question::GroupName(1)).unwrap().answer, Some(Answer::Id(999)));
        assert!(cache.weight <= 2, "{}", cache.weight);
    }
}
