import Glibc
import Market
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("What alerts keep over a restart")
struct AlertFileTests {
    private final class Warnings: Sendable {
        private let texts = NIOLockedValueBox<[String]>([])
        var all: [String] { self.texts.withLockedValue { $0 } }
        func add(_ text: String) { self.texts.withLockedValue { $0.append(text) } }
    }

    private let memory = AlertState(
        rules: ["X above 100"],
        states: [.init(rule: "X above 100", symbol: "A:X", isArmed: false, side: 0, count: 2, lastFired: 77)]
    )

    @Test("it is a file of this user's alone, and comes back as it was")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        let first = try #require(AlertFile(directory: folder.path) { warnings.add($0) })
        #expect(first.load() == nil)
        for _ in 0..<100 { first.keep(AlertState()) }
        first.keep(self.memory)
        await first.settle(atMost: .seconds(20))
        #expect(first.load() == self.memory)
        var facts = stat()
        #expect(stat("\(folder.path)/alerts", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(warnings.all.isEmpty)
    }

    @Test("one program owns it at a time, and the next one takes it over")
    func oneAtATime() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        var first = AlertFile(directory: folder.path) { warnings.add($0) }
        #expect(first?.isOurs == true)
        #expect(AlertFile(directory: folder.path) { warnings.add($0) }?.isOurs == false)
        first = nil
        #expect(AlertFile(directory: folder.path) { warnings.add($0) }?.isOurs == true)
        #expect(warnings.all == [])
    }

    @Test("a program beside it takes it over when that is gone, at a change or at its end, and loses nothing of it")
    func takesOver() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        var first = AlertFile(directory: folder.path) { warnings.add($0) }
        first?.keep(self.memory)
        await first?.settle(atMost: .seconds(20))
        let second = try #require(AlertFile(directory: folder.path) { warnings.add($0) })
        #expect(!second.isOurs && second.load() == self.memory)
        second.keep(AlertState(rules: ["X below 1"]))
        await second.settle(atMost: .seconds(20))
        #expect(!second.isOurs && second.load() == self.memory)
        first = nil
        await self.isReleased(folder)
        await second.settle(atMost: .seconds(20))
        #expect(second.isOurs && second.load()?.rules == ["X below 1", "X above 100"])
        #expect(second.load()?.states == self.memory.states)
        second.keep(AlertState(rules: ["X below 2", "X above 100"]))
        await second.settle(atMost: .seconds(20))
        #expect(second.load()?.rules == ["X below 2", "X above 100"])
        // A rule that this program also had is removed for good.
        second.keep(AlertState(rules: ["X below 2"]))
        await second.settle(atMost: .seconds(20))
        #expect(second.load()?.rules == ["X below 2"])
        #expect(warnings.all == [])
    }

    /// Waits until the previous writer's thread has released the file.
    private func isReleased(_ folder: TemporaryFolder) async {
        for _ in 0..<4_000 where AlertFile(directory: folder.path, warn: { _ in })?.isOurs != true {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func persistence(
        _ folder: TemporaryFolder,
        _ source: FeedStatus.Source = .live,
        keeps: Bool = true,
        hasRules: Bool = false,
        warnings: Warnings
    ) -> AlertPersistence {
        var state = Settings.State()
        state.directory = .path(folder.path)
        return AlertPersistence(state, source: source, keeps: keeps, hasRules: hasRules) { warnings.add($0) }
    }

    @Test("a watch neither takes nor locks it, so that the program with the feed keeps its alerts")
    func watches() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        var before: AlertFile? = AlertFile(directory: folder.path) { warnings.add($0) }
        before?.keep(self.memory)
        await before?.settle(atMost: .seconds(20))
        before = nil
        await self.isReleased(folder)
        let watch = self.persistence(folder, keeps: false, hasRules: true, warnings: warnings)
        #expect(watch.file == nil && watch.memory == AlertState())
        #expect(watch.loss?.contains("alerts.rules") == true)
        let run = self.persistence(folder, warnings: warnings)
        #expect(run.file?.isOurs == true && run.memory == self.memory && run.loss == nil)
        #expect(warnings.all == [])
        // A second program reports the other owner, for its rules and for an alert that is set by key.
        let second = self.persistence(folder, warnings: warnings)
        #expect(second.memory == AlertState() && second.loss?.contains("the other tickertape") == true)
        #expect(warnings.all == ["the alert that was set by key is another tickertape's, which runs already"])
        for source in [FeedStatus.Source.demo, .replay(file: "f", speed: 1)] {
            #expect(self.persistence(folder, source, warnings: warnings).loss != nil)
        }
    }

    @Test("--once neither takes nor locks it while it waits for its prices, and reports no other owner")
    func once() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var before: AlertFile? = AlertFile(directory: folder.path) { _ in }
        before?.keep(self.memory)
        await before?.settle(atMost: .seconds(20))
        before = nil
        await self.isReleased(folder)
        let server = try await ScriptedFinnhub.start { _ in .play([]) }
        let once = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--once", "--once-within", "60s", "--symbol", "BINANCE:BTCUSDT", "--upstream",
                "ws://127.0.0.1:\(server.port)", "--set", "state.directory=\(folder.path)",
            ],
            environment: ["FINNHUB_TOKEN": "averysecretkey"]
        )
        for await case .received in server.events { break }
        let run = AlertFile(directory: folder.path) { _ in }
        #expect(run?.isOurs == true && run?.load() == self.memory)
        let another = try RunningProgram(
            RunningProgram.tickertape,
            [
                "--once", "--once-within", "1s", "--symbol", "BINANCE:BTCUSDT", "--upstream",
                "ws://127.0.0.1:\(server.port)", "--set", "state.directory=\(folder.path)",
            ],
            environment: ["FINNHUB_TOKEN": "anothersecretkey"]
        )
        #expect(await another.ending(atMost: .seconds(30)) == .exit(3), "\(another.errors)")
        #expect(!another.errors.contains("alert"), "\(another.errors)")
        once.send(signal: SIGTERM)
        _ = await once.ending(atMost: .seconds(20))
        #expect(!once.errors.contains("alert"), "\(once.errors)")
        try await server.stop()
    }

    @Test("a damaged, foreign, linked or huge file is reported and replaced, and an invalid folder is reported")
    func abuse() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/alerts"
        let texts = [
            "", "tickertape alerts 1\nrule\t", "\0\0\0", String(repeating: "x", count: AlertState.maximumBytes + 1),
        ]
        for text in texts {
            _ = try folder.write(text, to: "alerts")
            try await self.isReplaced(in: folder)
        }
        unlink(path)
        #expect(symlink("/etc/passwd", path) == 0)
        try await self.isReplaced(in: folder)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        try await self.isReplaced(in: folder)

        let warnings = Warnings()
        #expect(AlertFile(directory: "/dev/null/x") { warnings.add($0) } == nil)
        #expect(warnings.all.first?.hasSuffix("(state.directory)") == true)
    }

    private func isReplaced(in folder: TemporaryFolder) async throws {
        let warnings = Warnings()
        let file = try #require(AlertFile(directory: folder.path) { warnings.add($0) })
        #expect(file.load() == nil)
        #expect(warnings.all.count == 1 && warnings.all[0].contains("/alerts cannot be used and is replaced: "))
        file.keep(self.memory)
        await file.settle(atMost: .seconds(20))
        #expect(file.load() == self.memory)
        #expect(warnings.all.count == 1)
    }
}
