//! A client of this process: the engine, told when to start and when to stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::message::{Event, Order, Reckoned, Start};
use super::work::Work;
use crate::engine::{self, Progress, Watch};

/// The last moment before a start is waited for awake, since sleep ends late.
const AWAKE: Duration = Duration::from_micros(300);
const GONE: &str = "whoever conducts the clients is gone";

/// Runs the work, tells what happens, and ends with [`Event::Ended`] or [`Event::Failed`].
pub(crate) fn drive(work: &Work, events: &Sender<Event>, orders: Receiver<Order>) {
    let stand = Stand { events: events.clone(), orders: Mutex::new(Orders { orders, stop: None }) };
    let ran = work.plan().and_then(|plan| engine::run(&plan, &stand));
    stand.tell(match ran {
        Ok(run) => Event::Ended(Box::new(run)),
        Err(error) => Event::Failed(format!("{error:#}")),
    });
}

/// Where the engine meets the orders. Its threads do not: only the one that conducts them looks here.
struct Stand {
    events: Sender<Event>,
    orders: Mutex<Orders>,
}

struct Orders {
    orders: Receiver<Order>,
    stop: Option<String>,
}

impl Stand {
    fn tell(&self, event: Event) {
        // If nobody listens any more, there will be no order either, and that ends the run.
        let _ = self.events.send(event);
    }
}

impl Watch for Stand {
    fn ready(&self, group: u32) -> Result<(), String> {
        self.tell(Event::Ready { group });
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match (orders.stop.take(), orders.orders.recv()) {
            (None, Ok(Order::Start(at))) => at,
            (Some(why), _) | (None, Ok(Order::Stop(why))) => {
                orders.stop = Some(why.clone());
                return Err(why);
            }
            (None, Err(_)) => return Err(GONE.to_owned()),
        };
        // A stop on the last moment is not to be slept through.
        let until_awake = at.saturating_duration_since(Instant::now()).saturating_sub(AWAKE);
        match orders.orders.recv_timeout(until_awake) {
            Err(RecvTimeoutError::Timeout) | Ok(Order::Start(_)) => {}
            Ok(Order::Stop(why)) => return Err(why),
            Err(RecvTimeoutError::Disconnected) => return Err(GONE.to_owned()),
        }
        while Instant::now() < at {
            std::hint::spin_loop();
        }
        let late_nanos = at.elapsed().as_nanos() as u64;
        self.tell(Event::Started(Start { group, late_nanos }));
        Ok(())
    }

    fn progress(&self, progress: &Progress) {
        self.tell(Event::Progress(Reckoned::from(progress)));
    }

    fn say(&self, text: &str) {
        self.tell(Event::Said(text.to_owned()));
    }

    fn interrupted(&self) -> Option<String> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if orders.stop.is_none() {
            match orders.orders.try_recv() {
                Ok(Order::Stop(why)) => orders.stop = Some(why),
                // A start that comes while it runs is of no group.
                Ok(Order::Start(_)) | Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => orders.stop = Some(GONE.to_owned()),
            }
        }
        orders.stop.clone()
    }
}
