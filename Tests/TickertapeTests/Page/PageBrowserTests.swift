import Foundation
import History
import Market
import NIOConcurrencyHelpers
import NIOHTTP1
import Testing
import TickertapeTesting

/// The page in a browser, with the real program and a scripted Finnhub.
@Suite(
    "The page in a browser",
    .serialized,
    .timeLimit(.minutes(5 * Patience.factor)),
    .enabled(if: BrowserWatch.chromium != nil, "no chromium here: scripts/setup --tests installs Debian's package")
)
struct PageBrowserTests {
    private static let demo = "\(RunningProgram.sources)/Sources/Tickertape/Resources/demo.jsonl"

    /// A market with one trade every 50 ms on the newest connection, unless it is silent.
    private final class Market: Sendable {
        private struct State {
            var connection: Int?
            var isSilent = false
            var hasEther = false
            var count = 0
        }

        let server: ScriptedFinnhub
        private let isShut: NIOLockedValueBox<Bool>
        private let state = NIOLockedValueBox(State())
        private let tasks = NIOLockedValueBox<[Task<Void, Never>]>([])

        init() async throws {
            let isShut = NIOLockedValueBox(false)
            self.isShut = isShut
            self.server = try await ScriptedFinnhub.start { _ in
                isShut.withLockedValue { $0 } ? .refuse(status: .serviceUnavailable) : .play([])
            }
            let listening = Task {
                for await event in self.server.events {
                    guard case .received(let connection, let text) = event, text.contains("subscribe") else { continue }
                    if text.contains("binance:ethusdt") {
                        self.server.send(#"{"msg":"Invalid symbol binance:ethusdt","type":"error"}"#, on: connection)
                        continue
                    }
                    self.state.withLockedValue {
                        $0.connection = connection
                        $0.hasEther = $0.hasEther || text.contains("BINANCE:ETHUSDT")
                    }
                }
            }
            let trading = Task {
                while !Task.isCancelled {
                    self.trade()
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            self.tasks.withLockedValue { $0 = [listening, trading] }
        }

        private func trade() {
            let next = self.state.withLockedValue { state -> (connection: Int, count: Int, hasEther: Bool)? in
                guard let connection = state.connection, !state.isSilent else { return nil }
                state.count += 1
                return (connection, state.count, state.hasEther)
            }
            guard let next else { return }
            let time = Int(Date().timeIntervalSince1970 * 1_000)
            let price = "6\(1000 + next.count % 900).\(10 + next.count % 89)"
            for symbol in ["BINANCE:BTCUSDT"] + (next.hasEther ? ["BINANCE:ETHUSDT"] : []) {
                self.server.send(
                    #"{"data":[{"c":null,"p":\#(price),"s":"\#(symbol)","t":\#(time),"v":0.02}],"type":"trade"}"#,
                    on: next.connection
                )
            }
        }

        func fallSilent(_ isSilent: Bool) { self.state.withLockedValue { $0.isSilent = isSilent } }

        /// Drops the connection, and refuses new ones until it is opened again.
        func shut() {
            self.isShut.withLockedValue { $0 = true }
            let connection = self.state.withLockedValue { state -> Int? in
                defer { state.connection = nil }
                return state.connection
            }
            if let connection { self.server.drop(connection) }
        }

        func open() { self.isShut.withLockedValue { $0 = false } }

        func stop() async throws {
            for task in self.tasks.withLockedValue({ $0 }) { task.cancel() }
            try await self.server.stop()
        }
    }

    private func start(
        _ market: Market,
        port: Int,
        folder: TemporaryFolder,
        _ more: [String] = [],
        zone: String = "local"
    ) throws -> RunningProgram {
        try RunningProgram(
            RunningProgram.tickertape,
            [
                "run", "--quiet", "--upstream", "ws://127.0.0.1:\(market.server.port)", "--relay", "127.0.0.1:\(port)",
                "--symbol", "BINANCE:BTCUSDT",
            ] + more,
            environment: [
                "FINNHUB_TOKEN": Canary.key, "XDG_STATE_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
                "TICKERTAPE_DISPLAY_TIME_ZONE": zone,
            ]
        )
    }

    /// Whether the browser itself reported the problem. It reports each refused connection, and each one that the page
    /// closes before it is open because the relay hangs; a page cannot prevent that.
    private func isOfBrowserItself(_ problem: String) -> Bool {
        problem.contains("closed before the connection is established")
    }

    private func isLive(_ seen: BrowserWatch.Seen) -> Bool { seen.level == "good" && seen.freshness == "fresh" }

    @Test("shows moving prices, a silent feed as late within 5 s, and a disconnected one as reconnecting")
    func feed() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = try await Market()
        let program = try self.start(market, port: 0, folder: folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("watch", "http://127.0.0.1:\(port)/")

        var prices: Set<String> = []
        while prices.count < 10 {
            let seen = try await browser.sees(self.isLive)
            #expect(seen.symbol == "BINANCE:BTCUSDT")
            prices.insert(seen.price)
        }

        market.fallSilent(true)
        // Every observed state is checked: a live price that is older than 5 s is a problem.
        let late = try await browser.sees { $0.word == "Late" }
        #expect(late.freshness == "late")
        #expect(late.detail.hasPrefix("no trade for "))
        market.fallSilent(false)
        _ = try await browser.sees(self.isLive)

        // The market stays closed until the test has seen it, since a brief disconnection may not appear in any state.
        market.shut()
        let cut = try await browser.sees { $0.level == "alarm" }
        #expect(cut.word == "Reconnecting" && cut.freshness == "old")
        #expect(cut.detail.contains("attempt "))
        market.open()
        _ = try await browser.sees { seen in self.isLive(seen) && seen.notes.contains { $0.hasPrefix("gap") } }

        // A page that is opened after the gap learns of it only from its request for history.
        let later = try BrowserWatch("watch", "http://127.0.0.1:\(port)/")
        _ = try await later.sees { self.isLive($0) && $0.chart.hasSuffix("1 gap") }
        #expect(await later.end())
        #expect(later.problems == [])
        #expect(await browser.end())
        #expect(browser.problems == [])
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        try await market.stop()
    }

    @Test("notices that the relay hangs, and reconnects when the program is started again")
    func restart() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = try await Market()
        let first = try self.start(market, port: 0, folder: folder)
        let port = try #require(await first.relayPort(), "\(first.errors)")
        let browser = try BrowserWatch("watch", "http://127.0.0.1:\(port)/#BINANCE:BTCUSDT")
        _ = try await browser.sees(self.isLive)

        first.send(signal: SIGSTOP)
        // On a busy machine the first observed change may already be the silence of the relay.
        let gone = try await browser.sees { $0.word == "Reconnecting to the relay" }
        #expect(gone.freshness == "old")
        first.send(signal: SIGCONT)
        // The price arrives in the relay's first messages and the tape follows; a busy machine may show the state in
        // between.
        _ = try await browser.sees { self.isLive($0) && $0.rows > 0 }
        #expect(browser.problems.filter { !self.isOfBrowserItself($0) } == [])

        first.send(signal: SIGTERM)
        #expect(await first.ending() == .exit(0))
        let lost = try await browser.sees { $0.word == "Reconnecting to the relay" }
        #expect(lost.freshness == "old")
        let second = try self.start(market, port: port, folder: folder)
        #expect(await second.relayPort() == port, "\(second.errors)")
        let before = lost.price
        _ = try await browser.sees { self.isLive($0) && $0.price != before }

        #expect(await browser.end())
        // The page asks for bars as soon as it is connected, which may be before the second program's first trade. Then it
        // asks again.
        let problems = browser.problems.filter { problem in
            !self.isOfBrowserItself(problem) && !problem.contains("ERR_CONNECTION_REFUSED")
                && !(problem.contains("404") && problem.contains("/v1/bars/"))
        }
        #expect(problems == [])
        second.send(signal: SIGTERM)
        #expect(await second.ending() == .exit(0))
        try await market.stop()
    }

    private struct Measure: Decodable {
        struct Contrast: Decodable {
            var ratio: Double
            var `where`: String
        }

        var scheme: String
        var width: Int
        var scrollWidth: Int
        var ground: String
        var canvas: Int
        var canvasHeight: Int
        /// What covers or leaves something else.
        var overlaps: [String]
        var contrast: Contrast
    }

    private struct Tree: Decodable {
        var roles: [String]
        var nameless: [String]
        var chart: String?
    }

    private struct Reached: Decodable { var reached: [String] }

    private struct Talk: Decodable {
        var nameless: String
        var taken: String
        /// The text in the field after the refusal.
        var kept: String
        /// The note after a second message before the first was answered.
        var unanswered: String
        /// What the other user got.
        var heard: [String]
        var state: String
        var lines: [String]
        /// The number of elements made from a user's text.
        var elements: Int
    }

    @Test(
        "fits phones and desktops without horizontal scrolling, in both themes, for keyboards and screen readers, and talks in a room"
    )
    func layout() async throws {
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.rooms=true"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("layout", "http://127.0.0.1:\(port)/")
        #expect(await browser.program.ending(atMost: .seconds(120)) == .exit(0), "\(browser.program.errors)")
        let lines = browser.program.output.split(separator: "\n").map { Data($0.utf8) }
        let measures = lines.compactMap { try? JSONDecoder().decode(Measure.self, from: $0) }
        #expect(Set(measures.map(\.width)) == [320, 360, 390, 768, 900, 1024, 1280, 1366])
        // Those with the pane Room come last.
        #expect(measures.count == 22)
        for measure in measures {
            #expect(measure.scrollWidth <= measure.width, "\(measure)")
            #expect(measure.canvas > 0 && measure.canvas < measure.width, "\(measure)")
            #expect(measure.canvasHeight >= 200 && measure.overlaps == [], "\(measure)")
            // WCAG 2, 1.4.3 (AA).
            #expect(measure.contrast.ratio >= 4.5, "\(measure)")
        }
        let light = Set(measures.filter { $0.scheme == "light" }.map(\.ground))
        let dark = Set(measures.filter { $0.scheme == "dark" }.map(\.ground))
        #expect(light.count == 1 && dark.count == 1 && light != dark)

        let tree = try #require(lines.compactMap { try? JSONDecoder().decode(Tree.self, from: $0) }.first)
        let roles = ["banner", "main", "navigation", "contentinfo", "table", "columnheader", "image", "status", "log"]
        #expect(Set(roles).isSubset(of: tree.roles), "\(tree.roles)")
        #expect(tree.nameless == [])
        #expect(tree.chart?.contains("highest ") == true, "\(tree)")
        let reached = try #require(lines.compactMap { try? JSONDecoder().decode(Reached.self, from: $0) }.first)
        let stops = ["skip", "theme", "add", "scroll", "room-choice", "room-log", "room-user", "room-text"]
        #expect(Set(stops).isSubset(of: reached.reached), "\(reached)")

        let talk = try #require(lines.compactMap { try? JSONDecoder().decode(Talk.self, from: $0) }.first)
        #expect(talk.nameless == "Type your name first.")
        #expect(talk.taken == "Not sent: another user of the room has the name ann" && talk.kept == "nameless")
        #expect(talk.unanswered == "Not sent: the last message is not answered yet.")
        #expect(talk.heard == ["joined Ann", "message Ann", "joined bob", "message bob", "message bob"])
        #expect(talk.state == "2 here: Ann, bob")
        try #require(talk.lines.count == 5, "\(talk)")
        #expect(talk.lines[0].hasPrefix("Ann: <b>bold</b><img src=x> www") && talk.elements == 0)
        #expect(talk.lines.dropFirst() == ["bob joined", "bob: nameless", "bob: half \u{FFFD}", "Ann: welcome"])
        #expect(browser.problems == [])
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
    }

    private struct News: Decodable {
        var shown: String
        var headlines: [String]
        var publishers: [String]
        var links: [[String]]
    }

    private struct Chosen: Decodable { var chosen: [String] }

    private struct Found: Decodable {
        var found: [String]
        var note: String
    }

    private struct Marks: Decodable {
        /// The list and the name of the marked symbol: with only what the relay finds, and after each key.
        var first: [String?]
        var marks: [[String?]]
        var options: [String]
    }

    @Test("shows news by publisher and symbols that fit what is typed, and says why there are none")
    func finding() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let service = try await FileService(in: folder, FileService.samples)
        for hasKey in [true, false] {
            let program = try RunningProgram(
                RunningProgram.tickertape,
                ["--demo", "--quiet", "--relay", "127.0.0.1:0", "--set", "service.url=\(service.url)"],
                environment: hasKey ? ["FINNHUB_TOKEN": Canary.key] : [:]
            )
            let port = try #require(await program.relayPort(), "\(program.errors)")
            let browser = try BrowserWatch("finding", "http://127.0.0.1:\(port)/#BINANCE:ETHUSDT")
            #expect(await browser.program.ending(atMost: .seconds(120)) == .exit(0), "\(browser.program.errors)")
            let lines = browser.program.output.split(separator: "\n").map { Data($0.utf8) }
            let news = try #require(lines.compactMap { try? JSONDecoder().decode(News.self, from: $0) }.first)
            let chosen = lines.compactMap { try? JSONDecoder().decode(Chosen.self, from: $0) }.first?.chosen
            if hasKey {
                #expect(
                    news.headlines
                        == ["<b>Funds</b> wait", "Reuters", "Ether falls", "CNBC", "Bitcoin rises", "Reuters"]
                )
                #expect(news.shown == "" && news.publishers == ["All publishers", "CNBC", "Reuters"])
                let rel = "noopener noreferrer"
                #expect(news.links == [["http://a.example/3", rel], ["https://a.example/1", rel]])
                #expect(chosen == ["Ether falls", "CNBC"])
            } else {
                #expect(news.shown.hasPrefix("No key is set: put Finnhub's API key"))
                #expect(news.headlines.isEmpty && chosen == nil)
            }
            let found = try #require(lines.compactMap { try? JSONDecoder().decode(Found.self, from: $0) }.first)
            #expect(found.found == ["BINANCE:BTCUSDT"])
            let marks = try #require(lines.compactMap { try? JSONDecoder().decode(Marks.self, from: $0) }.first)
            #expect(marks.first == ["found", "BINANCE:BTCUSDT"])
            #expect(marks.marks.map(\.first) == ["symbols", "found", "found", "symbols"], "\(marks)")
            #expect(marks.options.last == "By age")
            #expect(found.note.hasPrefix("these are the symbols of the recording"))
            let last = try #require(lines.compactMap { try? JSONDecoder().decode(Address.self, from: $0) }.first)
            #expect(last.address == "#BINANCE:BTCUSDT" && last.hasRooms == false)
            // The browser itself reports each refused request.
            #expect(browser.problems.filter { hasKey || !$0.contains("status of 503") } == [])
            program.send(signal: SIGTERM)
            #expect(await program.ending() == .exit(0))
        }
        service.program.send(signal: SIGTERM)
    }

    private struct Step: Decodable {
        var step: String
        var range: String?
        var followsNow: Bool?
        /// The texts of the bar under the crosshair: time, open, high, low, close, volume, state.
        var bar: [String]?
        var said: String?
        var title: String?
        var kept: String?
        var row: String?
        var filtered: String?
        var isSame: Bool?
        var address: String?
        var links: Int?
        var rows: [String]?
        var zone: String?
        /// Whether the limits of the prices are the user's.
        var isFree: Bool?
        /// Where the candles are: at first, scaled, moved, and fitted again.
        var extents: [Extent]?
        /// The seconds of the day under places of the chart, before and after a drag and a pinch of fingers.
        var shown: [Int]?
        var dragged: [Int]?
        var apart: [Int]?
        var pinched: [Int]?
        /// By how much the page has scrolled under a finger on the axis, px.
        var scrolled: Double?
        var requests: [String]?
        var named: String?
        /// The line about the symbol that was asked for.
        var asked: String?
        var focus: String?
    }

    /// The highest and the lowest row with a candle, px.
    private struct Extent: Decodable {
        var top: Int
        var bottom: Int
        var height: Int { self.bottom - self.top }

        func isNear(_ top: Int, _ bottom: Int) -> Bool { abs(self.top - top) <= 2 && abs(self.bottom - bottom) <= 2 }
    }

    private func isNear(_ seen: [Int]?, _ expected: [Int]?) -> Bool {
        guard let seen, let expected, seen.count == expected.count else { return false }
        return zip(seen, expected).allSatisfy { abs($0 - $1) <= 1 }
    }

    @Test("has a chart for mouse, fingers and keys, and a wrong symbol says so in its row and is not selected")
    func chart() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = try await Market()
        let hasZones = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Asia/Kathmandu")
        let program = try self.start(market, port: 0, folder: folder, zone: hasZones ? "Asia/Kathmandu" : "UTC")
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("chart", "http://127.0.0.1:\(port)/")
        #expect(await browser.program.ending(atMost: .seconds(120)) == .exit(0), "\(browser.program.errors)")
        let lines = browser.program.output.split(separator: "\n").map { Data($0.utf8) }
        let steps = lines.compactMap { try? JSONDecoder().decode(Step.self, from: $0) }
        let names = [
            "first", "crosshair", "dragged", "keys", "axis", "full", "fingers", "touched", "wrong", "forgotten",
            "asked",
            "meant", "slash", "zone",
        ]
        try #require(steps.map(\.step) == names, "\(browser.program.output.suffix(2_000))")
        let step = Dictionary(uniqueKeysWithValues: steps.map { ($0.step, $0) })
        #expect(steps[0].range == "5m" && steps[0].followsNow == true)
        let bar = try #require(steps[1].bar)
        #expect(
            bar.count == 7 && bar[1...4].allSatisfy { $0.wholeMatch(of: /6[01],[0-9]{3}\.[0-9]{2}/) != nil },
            "\(bar)"
        )
        // The volume is a sum of 0.02s.
        #expect(bar[5].wholeMatch(of: /0\.[0-9]{1,2}/) != nil, "\(bar)")
        let said = try #require(step["keys"]?.said)
        #expect(
            said.wholeMatch(of: /[0-9: -]+ UTC.*: close 6[01],[0-9.]+, open .*, high .*, low .*, volume 0\.[0-9]+.*/)
                != nil,
            "\(said)"
        )
        try self.expectAxis(step["axis"])
        try self.expectFingers(step["fingers"])
        let full = try #require(step["full"])
        #expect(full.title?.hasPrefix("BINANCE:BTCUSDT · ● Live") == true && full.range == "1h", "\(full)")
        #expect(
            full.kept == #"{"range":"1h","kind":"area","width":"1m","isLogarithmic":true,"hasVolume":false}"#,
            "\(full)"
        )
        let wrong = try #require(step["wrong"])
        #expect(
            wrong.row
                == "binance:ethusdt no such symbol × did you mean BINANCE:ETHUSDT?",
            "\(wrong)"
        )
        #expect(wrong.filtered == "0 of 1 symbols here fit" && wrong.isSame == true)
        #expect(wrong.address == "#BINANCE:BTCUSDT" && wrong.links == 0)
        let requests = try #require(step["asked"]?.requests)
        #expect(requests.first == "/v1/bars/BINANCE:ETHUSDT?width=1m&limit=60" && requests.count == 2, "\(requests)")
        #expect(step["meant"]?.address == "#BINANCE:ETHUSDT")
        #expect(step["meant"]?.rows == ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"])
        let forgotten = try #require(step["forgotten"])
        #expect(
            forgotten.asked
                == "binance:ethusdt: no such symbol Did you mean BINANCE:ETHUSDT? ×",
            "\(forgotten)"
        )
        #expect(forgotten.address == "#BINANCE:BTCUSDT")
        #expect(forgotten.rows == ["BINANCE:BTCUSDT", "BINANCE:ETHUSDT"], "\(forgotten)")
        #expect(step["slash"]?.focus == "add")
        let zone = try #require(step["zone"])
        #expect(zone.named == (hasZones ? "UTC+5:45" : "UTC") && zone.zone == "UTC", "\(zone)")
        #expect(browser.problems == [])
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        try await market.stop()
    }

    /// Half of the 150 px that scale by e make the picture 0.607 times as high. Then it follows the mouse up by 30 px.
    private func expectAxis(_ axis: Step?) throws {
        let extents = try #require(axis?.extents)
        try #require(extents.count == 4)
        let (first, scaled) = (extents[0], extents[1])
        #expect(axis?.isFree == true && first.height > 60, "\(extents)")
        #expect(abs(Double(scaled.height) - Double(first.height) * exp(-0.5)) <= 3, "\(extents)")
        #expect(extents[2].isNear(scaled.top - 30, scaled.bottom - 30), "\(extents)")
        #expect(extents[3].isNear(first.top, first.bottom), "\(extents)")
    }

    /// What was under the fingers stays there. Between fingers that part, the times come closer.
    private func expectFingers(_ fingers: Step?) throws {
        let fingers = try #require(fingers)
        #expect(self.isNear(fingers.dragged, fingers.shown), "\(fingers)")
        let (apart, pinched) = (try #require(fingers.apart), try #require(fingers.pinched))
        try #require(apart.count == 3 && pinched.count == 4)
        #expect(self.isNear(Array(pinched.prefix(2)), Array(apart.prefix(2))), "\(fingers)")
        #expect(pinched[3] - pinched[2] < apart[2] - apart[0], "\(fingers)")
        #expect(fingers.scrolled == 0)
    }

    private struct Speech: Decodable {
        struct Heard: Decodable {
            /// By the page's clock, ms.
            var at: Double
            var text: String
            /// The price on the screen at that moment.
            var price: String
        }

        var heard: [Heard]
        var live: String
    }

    @Test("says the selected price to a screen reader at most every 12 s")
    func speech() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let market = try await Market()
        let program = try self.start(market, port: 0, folder: folder)
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("speech", "http://127.0.0.1:\(port)/")
        #expect(await browser.program.ending(atMost: .seconds(120)) == .exit(0), "\(browser.program.errors)")
        let lines = browser.program.output.split(separator: "\n").map { Data($0.utf8) }
        let speech = try #require(lines.compactMap { try? JSONDecoder().decode(Speech.self, from: $0) }.first)
        #expect(speech.live == "polite" && speech.heard.count >= 3)
        for heard in speech.heard { #expect(heard.text == "BINANCE:BTCUSDT \(heard.price)") }
        for (before, heard) in zip(speech.heard, speech.heard.dropFirst()) {
            #expect(heard.at - before.at >= 12_000, "\(speech)")
        }
        #expect(browser.problems.filter { !self.isOfBrowserItself($0) } == [])
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        try await market.stop()
    }

    @Test("counts changes from 24 hours ago where the program's history has that price")
    func dayAgo() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let store = try HistoryStore(path: "\(folder.path)/h.sqlite")
        var batch = HistoryBatch()
        let start = Int64(Date().timeIntervalSince1970) * 1_000_000_000 - 86_400_000_000_000
        for second in stride(from: -600, to: 1_200, by: 20) {
            let trade = Trade(
                price: sampleDecimal("50000.5"),
                size: sampleDecimal("1"),
                exchangeTime: start + Int64(second) * 1_000_000_000,
                symbol: SymbolID(index: 0)
            )
            batch.take(trade, of: "BINANCE:BTCUSDT", isFirst: false)
        }
        try store.commit(batch, holes: [])
        try store.close()
        let market = try await Market()
        let program = try self.start(
            market,
            port: 0,
            folder: folder,
            ["--record", "\(folder.path)/r.jsonl", "--set", "history.file=\(folder.path)/h.sqlite"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("watch", "http://127.0.0.1:\(port)/")
        let seen = try await browser.sees { $0.figures["change"]?.hasSuffix(" 24h") == true }
        func cents(_ text: some StringProtocol) -> Int? { Int(String(text.filter(\.isNumber))) }
        let change = try #require(seen.figures["change"])
        #expect(cents(change.prefix { $0 != " " }) == cents(seen.price).map { $0 - 5_000_050 }, "\(seen)")
        #expect(await browser.end())
        #expect(browser.problems == [])
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        try await market.stop()
    }

    private struct Asked: Decodable { var asked: String }
    private struct Address: Decodable {
        var address: String
        var hasRooms: Bool?
    }

    @Test("asks for the relay's token in a form, says when it is wrong, and keeps the right one out of the address")
    func token() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let token = "a-token.of-the_test~0123"
        let file = try folder.write(token + "\n", to: "relay-token")
        chmod(file, 0o600)
        let program = try RunningProgram(
            RunningProgram.tickertape,
            ["replay", Self.demo, "--quiet", "--relay", "127.0.0.1:0", "--set", "relay.token-file=\(file)"]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let page = "http://127.0.0.1:\(port)/"
        let browser = try BrowserWatch("token", page, token)
        var asked: [String] = []
        var address: String?
        var moved = false
        var prices: Set<String> = []
        while address == nil || prices.count < 3, let line = await browser.line() {
            let data = Data(line.utf8)
            if let said = try? JSONDecoder().decode(Asked.self, from: data) { asked.append(said.asked) }
            if let said = try? JSONDecoder().decode(Address.self, from: data) { address = said.address }
            guard let seen = try? JSONDecoder().decode(BrowserWatch.Seen.self, from: data) else { continue }
            if asked.count < 2 { moved = moved || seen.price.contains { $0.isNumber } }
            if seen.word == "Playing", seen.freshness == "fresh" { prices.insert(seen.price) }
        }
        try #require(asked.count == 2 && prices.count >= 3, "\(browser.program.output) \(browser.program.errors)")
        #expect(asked[0] == "It is kept for this tab only, and sent to this relay only.")
        #expect(asked[1] == "The relay does not accept this token.")
        #expect(!moved)
        #expect(address?.hasPrefix(page) == true && address?.contains("token") == false, "\(address ?? "")")
        #expect(await browser.end())
        // The browser itself reports each refused connection and request; a page cannot prevent that.
        #expect(
            browser.problems.filter { !$0.contains("HTTP Authentication failed") && !$0.contains("status of 401") }
                == []
        )
        program.send(signal: SIGTERM)
        #expect(await program.ending() == .exit(0))
        #expect(!program.errors.contains(token))
    }

    private struct Log: Decodable { var log: [String] }

    /// Returns a message with the trades of one symbol only, each unchanged; `nil` without any.
    private static func part(_ frame: String, of symbol: String) -> String? {
        let (start, end) = (#"{"data":[{"#, #"}],"type":"trade"}"#)
        let elements = frame.dropFirst(start.count).dropLast(end.count).components(separatedBy: "},{")
        let wanted = elements.filter { $0.contains(#""s":"\#(symbol)""#) }
        return wanted.isEmpty ? nil : start + wanted.joined(separator: "},{") + end
    }

    @Test(
        "gets every trade that it asks for of a replay by Finnhub's own JavaScript sample, from a page whose origin is allowed"
    )
    func sample() async throws {
        let text = try TemporaryFolder.text(of: Self.demo)
        let program = try RunningProgram(
            RunningProgram.tickertape,
            [
                "replay", Self.demo, "--speed", "max", "--wait-client", "--quiet", "--relay", "127.0.0.1:0", "--set",
                "relay.allowed-origins=http://sample.example",
            ]
        )
        let port = try #require(await program.relayPort(), "\(program.errors)")
        let browser = try BrowserWatch("sample", "ws://127.0.0.1:\(port)/")
        #expect(await program.ending() == .exit(0), "\(program.errors) \(browser.program.output.suffix(500))")
        // The page asks for this one of the recording's two symbols.
        let expected = ProgramTests.tradeFrames(of: text).compactMap { Self.part($0, of: "BINANCE:BTCUSDT") }
        try #require(expected.count > 100)
        var frames: [String] = []
        while frames.count < expected.count, let line = await browser.line() {
            guard let log = try? JSONDecoder().decode(Log.self, from: Data(line.utf8)).log else { continue }
            #expect(log.first == "Message from server ")
            frames += log.dropFirst().filter { $0.contains("\"data\"") }
        }
        #expect(frames == expected)
        #expect(await browser.end())
        #expect(browser.problems == [])
    }
}
