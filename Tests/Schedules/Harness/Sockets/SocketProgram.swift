import Glibc
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import TickertapeTesting

/// One process of the program in a schedule. What it records is its tape.
///
/// Unchecked, because everything runs on the schedule's thread.
final class SocketProgram: ScheduledProgram, @unchecked Sendable {
    /// How long a read may wait in the recorder before it is in the file, ns.
    private static let recorderDelay: Int64 = 500_000_000
    /// How long the program may take to end, and to verify a recording, ns.
    private static let endLimit: Int64 = 20_000_000_000
    private static let verifyLimit: Int64 = 600_000_000_000
    /// The interval at which the recording is read, ns.
    private static let interval: Int64 = 50_000_000

    let checker: TapeChecker
    private let service: VenueService
    private let clock: RealTimeLoop
    private let tape: RecordedTape
    private let process: RunningProgram
    private unowned let host: SocketHost
    private let ending = NIOLockedValueBox<RunningProgram.Ending?>(nil)
    private var reading: RepeatedTask?
    private var hasConnected = false
    /// The newest reconnect, what had been traded by then, and the newest arrival of that; until all of it is on the
    /// tape. Times of the loop, ns.
    private var recovery: (began: Int64, targets: [Int], last: Int64)?

    init(_ host: SocketHost) throws {
        let venue = host.venue
        let market = venue.service.market
        self.host = host
        self.service = venue.service
        self.clock = venue.clock
        self.checker = TapeChecker(market)
        self.tape = RecordedTape(in: host.path, self.checker, market)
        self.process = try RunningProgram(
            RunningProgram.tickertape,
            ["record", "--from", "venue", "--quiet", "--relay", "off"] + host.settings
                + market.symbols.flatMap { ["--symbol", $0] } + ["\(host.path)/tape.jsonl"],
            environment: Self.environment(host)
        )
        self.service.counts.lives += 1
        let (process, ending) = (self.process, self.ending)
        Task {
            let how = await process.ending(atMost: .seconds(86_400))
            ending.withLockedValue { $0 = how }
        }
        self.tape.arrived = { [unowned self] in self.arrived($0, $1) }
        venue.opened = { [weak self] in self?.connected() }
        let bound = NIOLoopBound(self, eventLoop: self.clock.loop)
        self.reading = self.clock.loop.scheduleRepeatedTask(
            initialDelay: .nanoseconds(Self.interval),
            delay: .nanoseconds(Self.interval)
        ) { _ in bound.value.read() }
    }

    private static func environment(_ host: SocketHost) -> [String: String] {
        ["XDG_STATE_HOME": host.path, "HOME": host.path]
    }

    private func read() {
        self.tape.read()
        guard let recovery, self.clock.now - recovery.began > Self.recorderDelay else { return }
        guard self.missing(through: recovery.targets) == 0 else { return }
        self.recovery = nil
        if recovery.last > recovery.began { self.service.counts.recoveries.append(recovery.last - recovery.began) }
    }

    /// The report in the recording's last lines.
    var hours: [CompletenessHour] { self.tape.hours }

    func mayLack(symbol: Int, place: Int) -> Bool {
        self.service.isLost(symbol: symbol, place: place) || self.service.mayBeBeyond(symbol: symbol, place: place)
    }

    var isWaiting: Bool {
        let newest = self.service.market.symbols.indices.map { self.checker.newest(of: $0) ?? -1 }
        return self.missing(through: newest) > 0 || self.checker.unsettled > 0
    }

    /// The number of trades that the venue gives and the tape lacks, up to a place of each symbol.
    private func missing(through places: [Int]) -> Int {
        places.enumerated().reduce(0) { sum, last in
            sum
                + self.checker.missing(of: last.offset, through: last.element) {
                    self.service.isLost(symbol: last.offset, place: $0)
                        || (self.service.hasLimits && self.checker.isLost(symbol: last.offset, place: $0))
                }
        }
    }

    private func connected() {
        let isFirst = !self.hasConnected
        self.hasConnected = true
        guard !isFirst, !self.service.isLive else { return }
        if self.recovery != nil { self.service.counts.interruptedRecoveries += 1 }
        let market = self.service.market
        let targets = market.symbols.indices.map { market.count(of: $0, at: self.clock.now - ProgramLife.origin) - 1 }
        self.recovery = (self.clock.now, targets, self.clock.now)
    }

    private func arrived(_ monotonic: Int64, _ trades: [Trade]) {
        guard let recovery else { return }
        let market = self.service.market
        let isPartOfIt = trades.contains { trade in
            guard let id = trade.id else { return false }
            return market.columns.indices.contains { symbol in
                let first = market.columns[symbol].first
                return id >= first && id <= first + UInt64(max(recovery.targets[symbol], 0))
            }
        }
        if isPartOfIt { self.recovery?.last = max(recovery.last, self.clock.time(at: monotonic)) }
    }

    // MARK: The end

    func complete(isKilled: Bool) {
        self.process.send(signal: isKilled ? SIGKILL : SIGTERM)
        _ = self.clock.wait(atMost: Self.endLimit) { self.ending.withLockedValue { $0 != nil } }
        let ending = self.ending.withLockedValue { $0 }
        if ending != (isKilled ? .signal(SIGKILL) : .exit(0)) {
            self.checker.fault("the program ended with \(ending.map { "\($0)" } ?? "nothing"): \(self.process.errors)")
        }
        self.reading?.cancel()
        self.tape.finish()
        if self.tape.files.isEmpty { return self.checker.fault("the program has no recording: \(self.process.errors)") }
        if !isKilled, !self.tape.hasEnd { self.checker.fault("the recording has no end") }
        self.host.recordings.append(self.tape.files)
        guard !isKilled else { return }
        for recording in self.host.recordings { self.verify(recording) }
        // The requests for the comparison are none of the tape's.
        let requests = self.service.counts.requests
        self.verify(self.tape.files, ["--against", "venue"] + self.host.settings)
        self.service.counts.requests = requests
    }

    /// Lets the program itself verify a recording: it must find nothing wrong.
    private func verify(_ recording: [String], _ options: [String] = []) {
        let ending = NIOLockedValueBox<RunningProgram.Ending?>(nil)
        do {
            let process = try RunningProgram(
                RunningProgram.tickertape,
                ["recording", "verify"] + recording + options,
                environment: Self.environment(self.host)
            )
            Task {
                let how = await process.ending(atMost: .seconds(86_400))
                ending.withLockedValue { $0 = how }
            }
            _ = self.clock.wait(atMost: Self.verifyLimit) { ending.withLockedValue { $0 != nil } }
            if ending.withLockedValue({ $0 }) != .exit(0) {
                self.checker.fault("verify \(recording) \(options): \(process.output) \(process.errors)")
            }
        } catch {
            self.checker.fault("recording verify does not start: \(error)")
        }
    }

    /// Does nothing: the process has ended.
    func kill() {}
    func stop() {}
}
