//! A queue in which clients take turns, however much each of them puts into it.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Lanes that are empty are kept for the next client; so many.
const SPARE_LANES: usize = 64;

/// A queue with a lane for each client. What one client has queued comes out in the order in which
/// it went in; clients follow each other in a circle.
#[derive(Debug)]
pub(crate) struct FairQueue<K, T> {
    lanes: HashMap<K, VecDeque<T>>,
    /// Clients with something queued, the next one in front.
    circle: VecDeque<K>,
    len: usize,
    spare: Vec<VecDeque<T>>,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        FairQueue { lanes: HashMap::new(), circle: VecDeque::new(), len: 0, spare: Vec::new() }
    }
}

impl<K: Hash + Eq + Copy, T> FairQueue<K, T> {
    /// How much is queued by all clients.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How much of one client is queued.
    pub(crate) fn len_of(&self, client: K) -> usize {
        self.lanes.get(&client).map_or(0, VecDeque::len)
    }

    /// Whether more than one client waits.
    pub(crate) fn is_shared(&self) -> bool {
        self.circle.len() > 1
    }

    /// Puts something behind whatever else this client has queued.
    pub(crate) fn push(&mut self, client: K, item: T) {
        let lane = self.lanes.entry(client).or_insert_with(|| {
            self.circle.push_back(client);
            self.spare.pop().unwrap_or_default()
        });
        lane.push_back(item);
        self.len += 1;
    }

    /// Takes the next thing of the client whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let client = self.circle.pop_front()?;
        let lane = self.lanes.get_mut(&client)?;
        let item = lane.pop_front()?;
        self.len -= 1;
        if !lane.is_empty() {
            self.circle.push_back(client);
        } else if let Some(lane) = self.lanes.remove(&client)
            && self.spare.len() < SPARE_LANES
        {
            self.spare.push(lane);
        }
        Some(item)
    }

    /// The first of each client, those first whose turn is next.
    pub(crate) fn fronts(&self) -> impl Iterator<Item = &T> {
        self.circle.iter().filter_map(|client| self.lanes.get(client)?.front())
    }

    /// Everything, client by client.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.lanes.values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut FairQueue<char, u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn a_client_with_much_does_not_keep_one_with_little_waiting() {
        let mut queue = FairQueue::default();
        for number in 0..100 {
            queue.push('a', number);
        }
        queue.push('b', 1000);
        queue.push('c', 2000);
        queue.push('b', 1001);
        assert_eq!((queue.len(), queue.len_of('a'), queue.len_of('x')), (103, 100, 0));
        assert!(queue.is_shared());
        assert_eq!(queue.fronts().copied().collect::<Vec<_>>(), [0, 1000, 2000]);
        let all = drain(&mut queue);
        assert_eq!(all[..6], [0, 1000, 2000, 1, 1001, 2]);
        assert_eq!(all[6..], (3..100).collect::<Vec<_>>());
        assert!(queue.is_empty() && queue.lanes.is_empty() && queue.circle.is_empty());
    }

    #[test]
    fn who_comes_back_waits_for_the_others_once() {
        let mut queue = FairQueue::default();
        queue.push('a', 0);
        queue.push('a', 1);
        queue.push('b', 10);
        assert_eq!(queue.pop(), Some(0));
        queue.push('a', 2);
        assert_eq!(queue.pop(), Some(10));
        queue.push('b', 11);
        assert_eq!(drain(&mut queue), [1, 11, 2]);
    }

    #[test]
    fn lanes_are_used_again_and_do_not_pile_up() {
        let mut queue = FairQueue::default();
        for client in 0..1000_u32 {
            queue.push(client, 1);
        }
        while queue.pop().is_some() {}
        assert_eq!((queue.lanes.len(), queue.spare.len()), (0, SPARE_LANES));
        queue.push(7, 1);
        assert_eq!(queue.spare.len(), SPARE_LANES - 1);
    }
}
