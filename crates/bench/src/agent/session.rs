//! One coordinator's visit to an agent.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender as Orders, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::frame::{Receiver, Sender};
use super::message::{ToAgent, ToCoordinator};
use super::serve::House;
use super::{ALIVE_EVERY, SILENCE};
use crate::fleet::{Event, Order, Work, drive};
use crate::measure::stream::{self, MAX_STREAMS};

const TURN: Duration = Duration::from_millis(200);

pub(super) struct Session<'a> {
    house: &'a House,
    to: Sender,
    from: Receiver,
}

impl<'a> Session<'a> {
    pub(super) fn new(house: &'a House, to: Sender, from: Receiver) -> Self {
        Session { house, to, from }
    }

    /// Until the coordinator has gone. A run that it leaves behind is ended.
    pub(super) fn serve(mut self) -> Result<()> {
        std::thread::scope(|scope| {
            let mut orders: Option<Orders<Order>> = None;
            let (mut heard, mut spoke) = (Instant::now(), Instant::now());
            let mut visited = false;
            loop {
                if spoke.elapsed() >= ALIVE_EVERY {
                    spoke = Instant::now();
                    self.to.send(&ToCoordinator::Alive)?;
                }
                let message = match self.from.receive(TURN) {
                    Ok(Some(message)) => message,
                    Ok(None) if heard.elapsed() > SILENCE => {
                        // What drops the orders ends the run.
                        bail!("nothing was heard of the coordinator for {} s", SILENCE.as_secs())
                    }
                    Ok(None) => continue,
                    // The coordinator hangs up when it has what it came for.
                    Err(_) if visited && !self.house.busy.load(Ordering::Relaxed) => return Ok(()),
                    Err(error) => return Err(error),
                };
                heard = Instant::now();
                match message {
                    ToAgent::Ping => {
                        let at_nanos = self.house.clock.now();
                        self.to.send(&ToCoordinator::Pong { at_nanos })?;
                    }
                    ToAgent::Work(work) => {
                        visited = true;
                        if let Err(error) = self.house.check(&work) {
                            let why = format!("{error:#}");
                            self.to.send(&ToCoordinator::Event(Event::Failed(why)))?;
                        } else if self.house.busy.swap(true, Ordering::AcqRel) {
                            let why = "the agent is at work for another coordinator".to_owned();
                            self.to.send(&ToCoordinator::Event(Event::Failed(why)))?;
                        } else {
                            let (give, take) = channel();
                            orders = Some(give);
                            let (house, to) = (self.house, self.to.clone());
                            scope.spawn(move || run(house, &work, &to, take));
                        }
                    }
                    ToAgent::Start { at_nanos } => {
                        let at = self.house.clock.instant(at_nanos);
                        give(orders.as_ref(), Order::Start(at));
                    }
                    ToAgent::Stop { why } => give(orders.as_ref(), Order::Stop(why)),
                    ToAgent::Streams { count } => {
                        visited = true;
                        self.take_streams(scope, count)?;
                    }
                    ToAgent::Alive => {}
                }
            }
        })
    }
}

impl Session<'_> {
    /// Listens for streams on a port of its own, for this coordinator's host only.
    fn take_streams<'scope>(&self, scope: &'scope Scope<'scope, '_>, count: u32) -> Result<()> {
        let (own, coordinator) = self.from.addresses()?;
        let listener = TcpListener::bind((own.ip(), 0)).context("listen for streams")?;
        let port = listener.local_addr().context("find the own address")?.port();
        let (count, to) = (count.clamp(1, MAX_STREAMS), self.to.clone());
        scope.spawn(move || {
            let taken = stream::take(&listener, coordinator.ip(), count);
            // If the coordinator is gone, its session notices.
            let _ = to.send(&ToCoordinator::Streamed(taken.map_err(|error| format!("{error:#}"))));
        });
        self.to.send(&ToCoordinator::StreamsAt { port })
    }
}

/// An order that comes when the run has just ended is late, and no fault.
fn give(orders: Option<&Orders<Order>>, order: Order) {
    if let Some(orders) = orders {
        let _ = orders.send(order);
    }
}

fn run(house: &House, work: &Work, to: &Sender, orders: std::sync::mpsc::Receiver<Order>) {
    let (events, from) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || drive(work, &events, orders));
        let busy = Busy(house);
        let mut last = None;
        for event in from {
            if matches!(event, Event::Ended(_) | Event::Failed(_)) {
                last = Some(event);
                break;
            }
            // If the coordinator is gone, its session notices and drops the orders.
            let _ = to.send(&ToCoordinator::Event(event));
        }
        // Who hears of the end may send the next work at once.
        drop(busy);
        if let Some(last) = last {
            let _ = to.send(&ToCoordinator::Event(last));
        }
    });
}

/// The agent's being busy, which ends with this value, whatever ends the run.
struct Busy<'a>(&'a House);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}
