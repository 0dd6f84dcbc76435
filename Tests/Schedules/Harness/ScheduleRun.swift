import Market
import Measurements
import NIOCore
import NIOEmbedded
import Wire

/// What one schedule came to.
package struct ScheduleOutcome: Sendable {
    package var schedule: Schedule
    /// What was wrong; empty for a run in which everything held.
    package var faults: [String]
    package var counts: ScheduleCounts
    /// The digests of the tapes of all runs of the program.
    package var hash: String
}

/// The run of one schedule: the market's trades in their order, the faults at their times, and the program between
/// them.
package final class ScheduleRun {
    /// The time at the market's end in which nothing goes wrong, ns: the tail, and some of the trades before it.
    private static let calm: Int64 = 160_000_000_000

    private enum Step {
        case fault(Fault)
        /// The frames of some events come late.
        case send([Int])
        case start
        case endRotations
    }

    private let market: VenueMarket
    private let schedule: Schedule
    private let service: VenueService
    private let host: any ProgramHost
    private var agenda: [(at: Int64, step: Step)] = []
    private var life: (any ScheduledProgram)?
    private var epoch: UInt64 = 0
    private var faults: [String] = []
    private var hashes: [String] = []
    private var chance: SeededGenerator
    private var withheld: (left: Int, comes: Fault.Return, events: [Int])?
    private var reordered: (left: Int, events: [Int])?
    private var read: [Int] = []
    private var recording: RunRecording? { self.host.recording }

    /// Runs the schedule of a seed.
    package static func run(_ seed: UInt64, _ market: VenueMarket) throws(MarketFailure) -> ScheduleOutcome {
        try ScheduleRun(Self.schedule(seed, market), market) { service throws(MarketFailure) in
            try VirtualHost(service)
        }
        .run()
    }

    static func schedule(_ seed: UInt64, _ market: VenueMarket) -> Schedule {
        Schedule(seed: seed, venue: market.venue, span: max(market.end - Self.calm, 0), crowd: market.crowd)
    }

    /// Runs a market of days without a fault, in which Binance ends each connection after 24 hours.
    package static func days(_ seed: UInt64, _ market: VenueMarket) throws(MarketFailure) -> ScheduleOutcome {
        try ScheduleRun(Schedule(seed: seed, age: .ofBinance), market) { service throws(MarketFailure) in
            try VirtualHost(service)
        }
        .run()
    }

    /// When the last trade is withheld or reordered at the latest.
    private var lastFaultEnds: Int64 { self.market.end - VenueMarket.tail }

    init(
        _ schedule: Schedule,
        _ market: VenueMarket,
        on host: (VenueService) throws(MarketFailure) -> any ProgramHost
    ) throws(MarketFailure) {
        self.market = market
        self.schedule = schedule
        self.service = try VenueService(market, schedule)
        self.host = try host(self.service)
        self.chance = SeededGenerator(seed: schedule.seed &+ 5)
    }

    func run() throws(MarketFailure) -> ScheduleOutcome {
        defer { self.recording?.remove() }
        self.agenda = self.schedule.faults.map { ($0.at, .fault($0.fault)) }
        try self.start(at: 0)
        var event = 0
        while event < self.market.trades.count {
            let at = self.market.trades[event].at
            if let next = self.agenda.first, next.at <= at {
                self.agenda.removeFirst()
                self.host.advance(to: next.at)
                try self.take(next.step, at: next.at)
                continue
            }
            event = self.trade(from: event, at: at)
        }
        try self.heal()
        self.end()
        self.proveRecordings()
        return ScheduleOutcome(
            schedule: self.schedule,
            faults: self.faults + self.service.faults,
            counts: self.service.counts,
            hash: self.hashes.joined(separator: " ")
        )
    }

    private func add(_ step: Step, at: Int64) {
        let index = self.agenda.firstIndex { $0.at > at } ?? self.agenda.count
        self.agenda.insert((at, step), at: index)
    }

    // MARK: Trades

    /// Lets the trades of the next read happen; returns the event after them.
    private func trade(from first: Int, at begin: Int64) -> Int {
        var end = first + 1
        if case .joined(let span) = self.schedule.reads {
            let limit = min(begin + span, self.agenda.first?.at ?? .max)
            while end < self.market.trades.count, self.market.trades[end].at < limit, end - first < 200 { end += 1 }
        }
        self.host.advance(to: self.market.trades[end - 1].at)
        self.service.next = first
        self.read.removeAll(keepingCapacity: true)
        for event in first..<end {
            if self.withheld != nil {
                self.withhold(event)
            } else if self.reordered != nil {
                self.reorder(event)
            } else {
                self.read.append(event)
            }
            self.service.traded(event)
        }
        if !self.read.isEmpty { self.service.send(self.read[...]) }
        return end
    }

    private func withhold(_ event: Int) {
        guard var withheld else { return }
        self.withheld = nil
        withheld.left = self.market.trades[event].at < self.lastFaultEnds ? withheld.left - 1 : 0
        withheld.events.append(event)
        if withheld.comes == .never { self.service.loses(event) }
        guard withheld.left == 0 else {
            self.withheld = withheld
            return
        }
        if self.service.isLive { self.service.counts.exercised(.withhold(0, withheld.comes)) }
        if case .late(let time) = withheld.comes {
            self.add(.send(withheld.events), at: self.market.trades[event].at + time)
        }
    }

    private func reorder(_ event: Int) {
        guard var reordered else { return }
        self.reordered = nil
        reordered.left = self.market.trades[event].at < self.lastFaultEnds ? reordered.left - 1 : 0
        reordered.events.append(event)
        guard reordered.left == 0 else {
            self.reordered = reordered
            return
        }
        if self.service.isLive { self.service.counts.exercised(.reorder(0)) }
        reordered.events.shuffle(using: &self.chance)
        if Bool.random(using: &self.chance) {
            self.service.send(reordered.events[...])
        } else {
            for one in reordered.events { self.service.send([one]) }
        }
    }

    // MARK: Faults

    private func take(_ step: Step, at: Int64) throws(MarketFailure) {
        switch step {
        case .send(let events): self.service.sendLate(events)
        case .start: try self.start(at: at)
        case .endRotations: self.endRotations(at: at)
        case .fault(.withhold(let count, let comes)):
            if self.withheld == nil, self.reordered == nil { self.withheld = (count, comes, []) }
        case .fault(.reorder(let count)):
            if self.withheld == nil, self.reordered == nil { self.reordered = (count, []) }
        case .fault(.repeats(let count)):
            let last = self.service.next
            let events = Array(max(last - count, 0)..<last)
            guard self.service.isLive, !events.isEmpty else { return }
            self.service.counts.exercised(.repeats(count))
            // Trades that were withheld stay so.
            self.service.send(events.filter { self.wasSent($0) }[...])
        case .fault(.kill(let time)):
            guard let life else { return }
            self.service.counts.exercised(.kill(time))
            life.complete(isKilled: true)
            self.close(life)
            self.recording?.kill()
            life.kill()
            self.life = nil
            self.add(.start, at: at + time)
        case .fault(let fault):
            self.service.suffer(fault, now: at + ProgramLife.origin)
            self.host.run()
            self.endRotations(at: at)
        }
    }

    private func wasSent(_ event: Int) -> Bool {
        let trade = self.market.trades[event]
        return self.life?.checker.isOnTape(symbol: trade.symbol, place: self.market.place(of: event)) ?? false
    }

    private func endRotations(at: Int64) {
        guard let next = self.service.endRotations(now: at + ProgramLife.origin) else { return }
        let due = max(next - ProgramLife.origin, at + 1)
        let isPlanned = self.agenda.contains { if case .endRotations = $0.step { $0.at <= due } else { false } }
        if !isPlanned { self.add(.endRotations, at: due) }
    }

    private func start(at: Int64) throws(MarketFailure) {
        self.epoch += 1
        self.life = try self.host.start(epoch: self.epoch, at: at)
    }

    // MARK: The end

    /// Lets the program fill what is missing, while nothing goes wrong.
    private func heal() throws(MarketFailure) {
        var at = self.market.end
        for (_, step) in self.agenda { if case .start = step { try self.start(at: at) } }
        self.agenda = []
        let end = at + self.host.patience
        repeat {
            // Looking costs more than the waiting.
            at += at < self.market.end + 60_000_000_000 ? 1_000_000_000 : 30_000_000_000
            self.host.advance(to: at)
        } while at < end && (at < self.market.end + 5_000_000_000 || self.life?.isWaiting == true)
    }

    private func end() {
        guard let life else { return self.faults.append("the program did not start again") }
        life.complete(isKilled: false)
        life.checker.checkWhole { life.mayLack(symbol: $0, place: $1) }
        life.checker.check(life.hours)
        self.close(life)
        life.stop()
        guard self.schedule.theme == .rotations else { return }
        if self.service.counts.requests > 0 {
            self.faults.append("planned rotations had \(self.service.counts.requests) REST calls")
        }
        if self.service.counts.gaps > 0 { self.faults.append("planned rotations had \(self.service.counts.gaps) gaps") }
        if self.service.counts.repeated > 0 {
            self.faults.append("planned rotations had \(self.service.counts.repeated) repeats")
        }
    }

    private func proveRecordings() {
        guard let recording else { return }
        recording.prove()
        self.faults += recording.faults
        self.service.counts.killedRecordings += recording.killed
        self.service.counts.cutBytes += recording.cutBytes
        self.service.counts.recorded += recording.trades
        self.service.counts.replayed += recording.replayed
    }

    private func close(_ life: any ScheduledProgram) {
        life.checker.checkGiven()
        self.hashes.append(life.checker.digest())
        self.faults += life.checker.faults.map { "run \(self.epoch): \($0)" }
        self.service.counts.trades += life.checker.tradeCount
        self.service.counts.filled += life.checker.filled
        self.service.counts.repeated += life.checker.repeated
        self.service.counts.gaps += life.checker.gapCount
    }
}
