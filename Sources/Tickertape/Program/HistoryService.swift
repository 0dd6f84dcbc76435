import Feeds
import History
import Market
import Measurements
import NIOConcurrencyHelpers
import Recordings
import Relay
import ServiceLifecycle
import Terminal
import Wire

/// The history of a program that records: its recorder, and the relay's queries.
final class HistoryService: Sendable {
    /// The number of bars per symbol and width that are loaded at the start, and the number of symbols.
    private static let seededBars = 120
    private static let seededSymbols = 64
    /// The tolerance for bars in the future, ns. A bar that begins later has a wrong time.
    private static let ahead: Int64 = 3_600_000_000_000

    let historyRecorder: HistoryRecorder
    private let source: String
    private let folder: String
    private let recorder: NIOLockedValueBox<Recorder?>
    private let warnings: Warnings
    private let keepsRooms: Bool

    /// Opens the history if the settings have one. On a failure it warns, and the program goes on without a history,
    /// since prices matter more.
    init?(_ settings: Settings, source: FeedStatus.Source, warnings: Warnings) {
        guard let recording = settings.record.file,
            let path = HistoryPlace.path(settings.history.file, recording: recording, source: source)
        else { return nil }
        let recorder = NIOLockedValueBox<Recorder?>(nil)
        self.recorder = recorder
        self.warnings = warnings
        self.keepsRooms = settings.relay.rooms
        self.source = source.word
        self.folder = FilePath.absolute(FilePath.folder(of: recording))
        do throws(HistoryFailure) {
            self.historyRecorder = try HistoryRecorder(
                path: path,
                recording: { recorder.withLockedValue { $0 }.map { FilePath.absolute($0.path) } },
                wallClock: WallClock.now,
                notify: warnings.warn(of: .history)
            )
        } catch {
            warnings.warn(of: .history)("no history is kept: \(error); history.file: off works without it")
            return nil
        }
    }

    /// Takes the recorder whose file has the newest frames.
    func follow(_ recorder: Recorder) { self.recorder.withLockedValue { $0 = recorder } }

    /// Adds completed files of the recorder to the index.
    ///
    /// - Parameter newest: the file that is being written.
    func completed(_ files: [String], newest: String) {
        self.historyRecorder.completed(files.map(FilePath.absolute), newest: FilePath.absolute(newest))
    }

    /// The queries that the relay's HTTP interface makes.
    var past: RelayPast {
        let historyRecorder = self.historyRecorder
        return RelayPast(
            bars: { symbol, width, from, to, limit in
                try await historyRecorder.ask { try $0.bars(of: symbol, width, from: from, to: to, limit: limit) }
            },
            trades: { symbol, query in
                try await historyRecorder.ask { store in
                    var search = RecordedPast(symbol: symbol, query: query)
                    return search.find(in: try store.segments())
                }
            },
            liveTime: { from, to in
                try await historyRecorder.ask { store in
                    // The first state of this run may be on its way.
                    if historyRecorder.period == nil { historyRecorder.waitUntilWritten() }
                    let now = WallClock.now()
                    let to = min(to ?? now, now)
                    let from = min(from ?? to - 86_400_000_000_000, to)
                    return try LiveTime(from: from, to: to, in: store, current: historyRecorder.period, now: now)
                }
            }
        )
    }

    /// Gives the relay the newest bars of earlier runs, and brings the index of recordings up to date: it drops files
    /// that are gone and adds files that it lacks.
    func seed(_ relay: RelayServer) async {
        await relay.remember(await self.earlierBars())
        let (folder, source) = (self.folder, self.source)
        await self.asked { store in
            try store.forget(RecordingFolder.gone(from: folder, known: try store.segments()))
            try store.note(RecordingFolder.scan(folder, source: source, known: try store.segments()))
        }
    }

    /// Gives the relay the newest messages of its rooms, and lets it keep new ones. Messages that cannot be used are
    /// left out, with a warning.
    ///
    /// - Parameter limit: the wait for another program's last messages, and for the disk.
    func seedRooms(_ relay: RelayServer, within limit: Duration) async {
        guard self.keepsRooms else { return }
        let end = ContinuousClock.now + limit
        // Without the numbers of all earlier messages new ones would replace them.
        switch await self.historyRecorder.claim(within: limit) {
        case .mine: break
        case .others: return self.warnOfUnkeptRooms("another tickertape writes the history")
        case .unanswered: return self.warnOfUnkeptRooms("the disk of the history does not answer")
        case .cancelled: return
        }
        let answer = await self.asked(within: max(end - ContinuousClock.now, .zero)) { store in
            let kept = try store.roomMessages()
            // Here, since the relay's loop must not wait for the check.
            return (EarlierRooms(kept.messages), kept.unreadable)
        }
        guard let (rooms, unreadable) = answer else { return self.warnOfUnkeptRooms("the history cannot be read") }
        let recorder = self.historyRecorder
        await relay.remember(rooms) { recorder.take($0) }
        let spoilt = unreadable + rooms.leftOut
        if spoilt > 0 {
            self.warnings.warn(of: .history)("\(spoilt) messages of rooms in the history are spoilt and are left out")
        }
    }

    private func warnOfUnkeptRooms(_ reason: String) {
        self.warnings.warn(of: .history)("messages of rooms are not kept, since \(reason)")
    }

    /// Queries the history; `nil` after a warning if it cannot be read.
    @discardableResult
    private func asked<Answer: Sendable>(
        within limit: Duration? = nil,
        _ question: @escaping @Sendable (HistoryStore) throws -> Answer
    ) async -> Answer? {
        do {
            return try await self.historyRecorder.ask(within: limit, question)
        } catch {
            self.warnings.warn(of: .history)("the history cannot be read: \(error)")
            return nil
        }
    }

    /// Returns the newest bars of earlier runs.
    func earlierBars() async -> [EarlierBars] {
        let bars = await self.asked { store in
            let now = WallClock.now()
            let end = try store.newestTime(notAfter: now + ArrivalCheck.tolerance) ?? .min
            return try store.symbols().prefix(Self.seededSymbols).flatMap { symbol in
                try BarWidth.allCases.map { width in
                    let to = now + Self.ahead
                    return EarlierBars(
                        symbol: symbol,
                        width: width,
                        bars: try store.bars(of: symbol, width, from: nil, to: to, limit: Self.seededBars),
                        endedAt: end
                    )
                }
            }
        }
        return (bars ?? []).filter { !$0.bars.isEmpty }
    }

    /// Returns the older bars of a screen's charts: five minutes each of the newest day, minutes of the newest hours, and
    /// seconds of the newest 65 minutes.
    ///
    /// - Parameter now: ns since 1970.
    func charts(of symbols: [String], now: Int64) async -> [EarlierBars] {
        let reaches: [(BarWidth, Int64)] = [
            (.second, 3_900_000_000_000), (.minute, DisplayModel.earlierReach), (.fiveMinutes, DisplayModel.earlierDay),
        ]
        let bars = await self.asked { store in
            try symbols.prefix(Self.seededSymbols).flatMap { symbol in
                try reaches.map { width, reach in
                    EarlierBars(
                        symbol: symbol,
                        width: width,
                        bars: try store.bars(of: symbol, width, from: now - reach, to: now, limit: 4_000),
                        endedAt: now
                    )
                }
            }
        }
        return (bars ?? []).filter { !$0.bars.isEmpty }
    }

    /// Returns the prices of symbols at a moment, as far as the history has them.
    ///
    /// - Parameter time: ns since 1970.
    func prices(of symbols: [String], at time: Int64) async -> [String: ExactDecimal] {
        let prices = await self.asked { store in
            var prices: [String: ExactDecimal] = [:]
            for symbol in symbols { prices[symbol] = try store.price(of: symbol, at: time) }
            return prices
        }
        return prices ?? [:]
    }

    var part: NamedService {
        NamedService("history") {
            try? await gracefulShutdown()
            await self.finish()
        }
    }

    func finish() async {
        let report = await self.historyRecorder.finish()
        guard report.isWhole else {
            return Console.printError(
                "warning: the disk of the history does not answer; its newest bars may be missing"
            )
        }
        if report.lost > 0 {
            Console.printError(
                "warning: \(report.lost) trades are missing in the history; the disk was full or too slow"
            )
        }
        if report.lostMessages > 0 {
            Console.printError(
                "warning: \(report.lostMessages) messages of rooms are missing in the history; the disk was too slow"
            )
        }
        if report.lostGaps > 0 {
            Console.printError(
                "warning: \(report.lostGaps) gaps of the feed are missing in the history; the disk was too slow"
            )
        }
    }
}
