import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream

/// A player on a loop whose time the test controls, and one client whose socket takes everything or nothing.
@Suite("A replay's player")
struct ReplayPlayerTests {
    private final class Output: ReplayOutput {
        var hasRoom = true
        /// The number of each message's first trade, `ping`, and the reports about the replay.
        var log: [String] = []
        var isEnded = false

        func play(_ message: ReplayMessage) {
            let number = message.trades.first.flatMap(ReplayRecording.number)
            self.log.append(number.map { "\($0)" } ?? "ping")
        }
        func flush() {}
        func changed(_ position: ReplayPosition, movedFrom: Int64?) {
            if let movedFrom {
                self.log.append("\((movedFrom - ReplayRecording.start) / 1_000_000)>\(Self.at(position))")
            } else {
                self.log.append(position.isPaused ? "paused" : "playing")
            }
        }
        func ended() { self.isEnded = true }
        func broke() { self.log.append("broke") }
        func failed(_ reason: String) { self.log.append(reason) }

        static func at(_ position: ReplayPosition) -> Int64 { (position.at - ReplayRecording.start) / 1_000_000 }

        func take() -> [String] {
            defer { self.log = [] }
            return self.log
        }
    }

    private struct Bench {
        let folder: TemporaryFolder
        let loop = EmbeddedEventLoop()
        let output = Output()
        let player: ReplayPlayer

        init(_ text: String, _ change: (inout ReplaySettings) -> Void = { _ in }) throws {
            self.folder = try TemporaryFolder()
            let recording = try RecordingFile(path: try self.folder.write(text, to: "a.jsonl"))
            var settings = ReplaySettings()
            change(&settings)
            self.player = try ReplayPlayer(.recording(recording), settings: settings, loop: self.loop, wallClock: { 0 })
            self.player.attach(self.output)
        }

        func advance(_ milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }

        @discardableResult
        func ask(_ request: ReplayRequest) -> Result<ReplayPosition, ReplayRefusal>? {
            var answer: Result<ReplayPosition, ReplayRefusal>?
            self.player.request(request) { answer = $0 }
            self.loop.run()
            return answer
        }
    }

    /// One message every 100 ms, with the numbers 0, 1, 2, …
    private static let steady = ReplayRecording.text((0..<100).map { .trade(at: $0 * 100, number: $0) })

    @Test("plays every message once at its time, and reports the end")
    func whole() throws {
        let bench = try Bench(Self.steady) { $0.machine.speed = 10 }
        bench.player.start()
        #expect(bench.output.take() == ["0"])
        bench.advance(10)
        #expect(bench.output.take() == ["1"])
        bench.advance(979)
        #expect(bench.output.take() == (2...98).map { "\($0)" })
        #expect(!bench.output.isEnded)
        bench.advance(1)
        #expect(bench.output.take() == ["99"] && bench.output.isEnded)
    }

    @Test("an output that is attached after the request for a step, and before the step, learns of the pause")
    func stepBeforeAttaching() throws {
        let bench = try Bench(Self.steady) { $0.machine.isPaused = true }
        #expect(bench.output.take() == ["paused"])
        bench.ask(.stepMessages(1))
        _ = bench.output.take()
        let late = Output()
        bench.player.attach(late)
        #expect(late.take() == ["paused"])
        bench.player.start()
        #expect(late.take() == ["0"])
    }

    @Test("a seek forward and back lands on the newest message there, reports both positions, and continues")
    func seeks() throws {
        let bench = try Bench(Self.steady)
        bench.player.start()
        bench.advance(250)
        #expect(bench.output.take() == ["0", "1", "2"])
        #expect(try bench.ask(.seek(.offset(5_050_000_000)))?.get().at == ReplayRecording.start + 5_050_000_000)
        #expect(bench.output.take() == ["250>5050", "50"])
        bench.advance(50)
        #expect(bench.output.take() == ["51"])
        bench.ask(.seek(.offset(100_000_000)))
        #expect(bench.output.take() == ["5100>100", "1"])
        bench.advance(100)
        #expect(bench.output.take() == ["2"])
        bench.ask(.seek(.percent(100)))
        #expect(bench.output.take() == ["200>9900", "99"] && bench.output.isEnded)
        #expect(throws: ReplayRefusal.self) { try bench.ask(.seek(.percent(0)))?.get() }
    }

    @Test("a paused replay stays at its end, however it got there, until it is resumed")
    func pausedAtEnd() throws {
        for request in [ReplayRequest.seek(.percent(100)), .stepTime(60_000_000_000), .stepMessages(1_000)] {
            let bench = try Bench(Self.steady) { $0.machine.isPaused = true }
            bench.player.start()
            bench.ask(request)
            #expect(bench.output.take().last == "99" && !bench.output.isEnded, "\(request)")
            #expect(Output.at(bench.player.position) == 9_900 && bench.player.position.isPaused)
            bench.ask(.stepMessages(1))
            #expect(bench.output.take() == ["paused"] && !bench.output.isEnded)
            bench.ask(.stepMessages(-1))
            #expect(bench.output.take() == ["9900>9800", "98"])
            bench.ask(.resume)
            bench.advance(100)
            #expect(bench.output.take().last == "99" && bench.output.isEnded)
        }
    }

    @Test("steps by messages forward and back show exactly that message, pings not counted")
    func steps() throws {
        var lines: [ReplayRecording.Line] = (0..<20).map { .trade(at: $0 * 100, number: $0) }
        lines.insert(.ping(at: 450), at: 5)
        // Three messages with one time: a place is more than a time.
        lines += [.trade(at: 2_000, number: 20), .trade(at: 2_000, number: 21), .trade(at: 2_000, number: 22)]
        lines += [.trade(at: 3_000, number: 23)]
        let bench = try Bench(ReplayRecording.text(lines)) { $0.machine.isPaused = true }
        bench.player.start()
        #expect(bench.output.take() == ["paused"])
        bench.ask(.stepMessages(6))
        #expect(bench.output.take() == ["paused", "0", "1", "2", "3", "4", "ping", "5"])
        bench.ask(.stepMessages(-1))
        #expect(bench.output.take() == ["500>400", "4"])
        bench.ask(.stepMessages(-4))
        #expect(bench.output.take() == ["400>0", "0"])
        bench.ask(.stepMessages(-1))
        #expect(bench.output.take() == ["0>0", "0"])
        bench.ask(.stepMessages(21))
        #expect(bench.output.take().last == "21")
        bench.ask(.stepMessages(-1))
        #expect(bench.output.take() == ["2000>2000", "20"])
        bench.ask(.stepMessages(2))
        #expect(bench.output.take() == ["paused", "21", "22"])
        bench.advance(60_000)
        #expect(bench.output.take() == [])
        bench.ask(.stepTime(-1_050_000_000))
        #expect(bench.output.take() == ["2000>950", "9"])
        bench.ask(.stepTime(300_000_000))
        #expect(bench.output.take() == ["paused", "10", "11", "12"])
        #expect(Output.at(bench.player.position) == 1_250)
        bench.ask(.resume)
        bench.advance(50)
        #expect(bench.output.take() == ["playing", "13"])
    }

    @Test("the next gap is a recorded one, or five seconds of silence; the last has no next one")
    func gaps() throws {
        let bench = try Bench(
            ReplayRecording.text([
                .trade(at: 0, number: 0), .trade(at: 4_000, number: 1), .gap(at: 4_500, from: 4_000, to: 4_500),
                .trade(at: 4_500, number: 2), .ping(at: 7_000), .trade(at: 9_400, number: 3), .ping(at: 12_000),
                .trade(at: 14_400, number: 4), .trade(at: 15_000, number: 5),
            ])
        ) { $0.machine.isPaused = true }
        bench.player.start()
        #expect(bench.output.take() == ["paused"])
        bench.ask(.seek(.nextGap))
        #expect(bench.output.take() == ["0>4500", "2"])
        bench.ask(.seek(.nextGap))
        #expect(bench.output.take() == ["4500>14400", "4"])
        let refused = #expect(throws: ReplayRefusal.self) { try bench.ask(.seek(.nextGap))?.get() }
        #expect(refused?.description == "no gap and no silence of 5 s follows this place")
        #expect(bench.output.take() == [])
        bench.ask(.stepMessages(1))
        #expect(bench.output.take() == ["paused", "5"])
    }

    @Test("a part is played from its first message to its last, and over again")
    func loop() throws {
        let bench = try Bench(Self.steady) {
            $0.machine.speed = nil
            $0.from = .offset(9_650_000_000)
            $0.to = .percent(98.5)
            $0.repeats = true
        }
        #expect(bench.player.position.percent == 0)
        bench.output.hasRoom = false
        bench.player.start()
        #expect(bench.output.take() == [])
        bench.output.hasRoom = true
        bench.ask(.stepMessages(3))
        #expect(bench.output.take() == ["paused", "97", "9700>9650", "97", "9700>9650", "97", "9700>9650"])
        #expect(throws: RecordingFailure.self) {
            try Bench(Self.steady) {
                $0.from = .percent(60)
                $0.to = .percent(50)
            }
        }
    }

    @Test("a client without buffer space holds up a replay, unless its shared clock does not wait")
    func room() throws {
        for waits in [true, false] {
            let bench = try Bench(Self.steady) { $0.waitsForAll = waits }
            bench.player.start()
            bench.output.hasRoom = false
            bench.advance(1_000)
            #expect(bench.output.take() == (waits ? ["0"] : (0...10).map { "\($0)" }))
            bench.output.hasRoom = true
            bench.player.outputHasRoom()
            #expect(bench.output.take() == (waits ? (1...10).map { "\($0)" } : []))
        }
    }

    @Test("continues for the others when the client without buffer space has left")
    func othersGoOn() throws {
        let bench = try Bench(Self.steady) { $0.machine.speed = nil }
        let other = Output()
        bench.player.attach(other)
        other.hasRoom = false
        bench.player.start()
        bench.advance(1_000)
        #expect(bench.output.take() == [])
        bench.player.detach(other)
        bench.advance(1)
        #expect(bench.output.take().count == 100 && bench.output.isEnded)
    }

    @Test("with breaks, connections are cut where a gap begins, and refused until it ends")
    func breaks() throws {
        let bench = try Bench(
            ReplayRecording.text([
                .trade(at: 0, number: 0), .gap(at: 5_000, from: 1_000, to: 4_000), .trade(at: 5_000, number: 1),
            ])
        ) {
            $0.hasBreaks = true
            $0.waitsForAll = false
        }
        bench.player.start()
        bench.advance(999)
        #expect(bench.output.take() == ["0"] && !bench.player.isBroken)
        bench.advance(1)
        #expect(bench.output.take() == ["broke"] && bench.player.isBroken)
        bench.advance(2_999)
        #expect(bench.player.isBroken)
        bench.advance(1)
        #expect(!bench.player.isBroken)
        bench.advance(1_000)
        #expect(bench.output.take() == ["1"])
    }

    @Test("another thread sees the recording's clock advance, and gets every change")
    func remote() throws {
        let bench = try Bench(Self.steady)
        let remote = ReplayRemote(bench.player)
        let heard = NIOLoopBoundBox([String](), eventLoop: bench.loop)
        remote.watch { position in heard.value.append("\(Output.at(position)) \(position.isPaused)") }
        bench.player.start()
        bench.advance(120)
        #expect(Output.at(remote.position()) == 120)
        remote.request(.pause)
        bench.loop.run()
        bench.advance(5_000)
        #expect(Output.at(remote.position()) == 120 && remote.position().isPaused)
        remote.request(.seek(.offset(1_000_000_000)))
        bench.loop.run()
        #expect(heard.value == ["120 true", "1000 true"])
        remote.stopWatching()
        remote.request(.resume)
        bench.loop.run()
        #expect(heard.value.count == 2 && !remote.position().isPaused)
    }

    @Test("restarts at most once before other work of the loop runs")
    func restarts() throws {
        let bench = try Bench(ReplayRecording.text([.trade(at: 0, number: 0), .trade(at: 1, number: 1)])) {
            $0.machine.speed = nil
            $0.repeats = true
        }
        bench.player.start()
        #expect(bench.output.take() == ["0", "1", "1>0", "0"])
        bench.output.hasRoom = false
        bench.advance(1)
        #expect(bench.output.take() == [])
        bench.output.hasRoom = true
        bench.player.outputHasRoom()
        #expect(bench.output.take() == ["1", "1>0", "0"])
    }
}

/// Recordings written by a test, with times in ms.
enum ReplayRecording {
    /// 2026-01-01T00:00:00Z, ns since 1970.
    static let start: Int64 = 1_767_225_600_000_000_000

    /// The price of the trade with the number 0; a price of 0 is not valid.
    private static let firstPrice = 1_000

    /// Returns the number of a trade that was written here.
    static func number(_ trade: Trade) -> Int? { Int("\(trade.price)").map { $0 - Self.firstPrice } }

    /// Returns the number of the trade of a frame with one trade.
    static func number(of frame: RecordedFrame) -> Int? {
        var parser = FinnhubParser()
        var symbols = SymbolTable()
        var trades: [Trade] = []
        _ = parser.parse(frame.frame, symbols: &symbols, into: &trades)
        return trades.first.flatMap(Self.number)
    }

    /// Returns a frame with one trade, as the service sends it.
    static func frame(at: Int, number: Int) -> String {
        let time = Self.start / 1_000_000 + Int64(at)
        return #"{"data":[{"c":null,"p":\#(Self.firstPrice + number),"s":"A","t":\#(time),"v":1}],"type":"trade"}"#
    }

    enum Line {
        case trade(at: Int, number: Int)
        case ping(at: Int)
        case gap(at: Int, from: Int, to: Int)
    }

    static func text(_ lines: [Line]) -> String {
        var recording = RecordingBuffer(RecordingHeader(symbols: ["A"], start: Self.start))
        for line in lines {
            switch line {
            case .trade(let at, let number):
                let frame = Self.frame(at: at, number: number)
                recording.frame(ByteBuffer(string: frame), at: Int64(at) * 1_000_000)
            case .ping(let at):
                recording.frame(FinnhubEncoder.ping, at: Int64(at) * 1_000_000)
            case .gap(let at, let from, let to):
                let gap = Gap(
                    from: Self.start + Int64(from) * 1_000_000,
                    to: Self.start + Int64(to) * 1_000_000,
                    reason: "lost",
                    nextSequence: 1
                )
                recording.gap(gap, at: Int64(at) * 1_000_000)
            }
        }
        return String(buffer: recording.bytes)
    }
}
