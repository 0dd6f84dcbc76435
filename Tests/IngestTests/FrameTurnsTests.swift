import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

/// Two feeds of one tape, each with a connection of the same replay. What the player writes arrives when the test says
/// so.
private final class TurnBench {
    /// One connection, whose frames are trades with the frame's text as their symbol.
    final class Connection {
        let marks: FrameMarks
        let input: FeedInput
        private var written: [String] = []
        private var arrived: [String] = []
        private var count = 0
        private let port: Int
        var wakes = 0

        init(_ port: Int, _ turns: FrameTurns, _ tape: TapeWriter) {
            self.port = port
            self.marks = FrameMarks(turns: turns)
            self.input = FeedInput(
                tape,
                FeedInput.Settings(name: "\(port)", repeats: .ignored, isLive: false, marks: self.marks),
                status: FeedStatus(source: .replay(file: "test", speed: 1), phase: .live, since: 0),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let box = WakeTarget(self)
            self.marks.follow { box.connection?.wakes += 1 }
            self.input.connectionOpened(port: port, now: Moment(monotonic: 1, wall: 1))
        }

        func write(_ names: String...) {
            for name in names {
                self.marks.willWrite(after: self.count, on: self.port)
                self.count += 1
                self.written.append(name)
            }
        }

        func post(_ reason: String) {
            let gap = Gap(from: 5, to: 6, reason: reason, nextSequence: 0, symbol: reason)
            self.marks.post(.gap(gap), after: self.count, on: self.port)
        }

        /// Lets frames arrive, all that were written or some of them.
        func arrive(_ limit: Int = .max) {
            let some = self.written.prefix(limit)
            self.written.removeFirst(some.count)
            self.arrived += some
            self.goOn()
        }

        /// Takes what has arrived, as far as its turn has come.
        func goOn() {
            let now = Moment(monotonic: 2, wall: 2)
            while true {
                if self.input.hasDueMarks { self.input.obeyMarks(now: now) }
                guard !self.input.hasDueMarks, !self.arrived.isEmpty else { break }
                let name = self.arrived.removeFirst()
                self.input.take(ByteBuffer(string: name), of: .finnhub, now: 2) { _, symbols, trades in
                    guard let symbol = symbols.intern(name) else { return .trades(skipped: 1) }
                    trades.append(Trade(price: .zero, size: .zero, exchangeTime: 1, symbol: symbol))
                    return .trades(skipped: 0)
                }
            }
            self.input.endRead(wall: 2)
        }
    }

    /// Unchecked, because only the test's thread uses it.
    private final class WakeTarget: @unchecked Sendable {
        weak var connection: Connection?

        init(_ connection: Connection) { self.connection = connection }
    }

    /// The tape's trades and gaps, by their names.
    private final class Names: TapeReader, @unchecked Sendable {
        var names: [String] = []

        func read(_ batch: TapeBatch) { self.names += batch.trades.map { batch.symbols.name(of: $0.symbol) } }
        func statusChanged(_ status: FeedStatus) {}
        func gapFound(_ gap: Gap) { self.names.append("gap \(gap.symbol ?? "all")") }
    }

    let turns = FrameTurns()
    private let log = Names()
    let a: Connection
    let b: Connection

    init() {
        let tape = TapeWriter(epoch: 7, readers: [self.log])
        self.a = Connection(1, self.turns, tape)
        self.b = Connection(2, self.turns, tape)
    }

    var tape: [String] { self.log.names }
}

@Suite("The turns of a replay's connections")
struct FrameTurnsTests {
    private let bench = TurnBench()

    @Test("give the tape the player's order, however the connections' frames arrive")
    func order() {
        let (a, b) = (self.bench.a, self.bench.b)
        a.write("a1", "a2")
        b.write("b1")
        a.write("a3")
        b.write("b2", "b3")
        b.arrive()
        #expect(self.bench.tape.isEmpty && b.input.waitsForTurn)
        a.arrive(1)
        #expect(self.bench.tape == ["a1"])
        a.arrive()
        #expect(self.bench.tape == ["a1", "a2"] && a.input.waitsForTurn && b.wakes > 0)
        b.goOn()
        #expect(self.bench.tape == ["a1", "a2", "b1"])
        a.goOn()
        b.goOn()
        #expect(self.bench.tape == ["a1", "a2", "b1", "a3", "b2", "b3"])
        #expect(!a.input.waitsForTurn && !b.input.waitsForTurn)
    }

    @Test("count for marks, too, which may stand alone in a turn")
    func marks() {
        let (a, b) = (self.bench.a, self.bench.b)
        a.write("a1")
        b.post("x")
        a.write("a2")
        b.post("y")
        b.goOn()
        #expect(self.bench.tape.isEmpty && b.input.waitsForTurn)
        a.arrive()
        #expect(self.bench.tape == ["a1"])
        b.goOn()
        #expect(self.bench.tape == ["a1", "gap x"])
        a.goOn()
        b.goOn()
        #expect(self.bench.tape == ["a1", "gap x", "a2", "gap y"])
    }

    @Test("end with the connection, whose missing frames hold up no other one")
    func cut() {
        let (a, b) = (self.bench.a, self.bench.b)
        a.write("a1", "a2")
        b.write("b1")
        a.write("a3")
        b.write("b2")
        a.arrive(1)
        b.arrive()
        #expect(self.bench.tape == ["a1"])
        a.input.connectionEnded(now: Moment(monotonic: 3, wall: 3))
        b.goOn()
        #expect(self.bench.tape == ["a1", "b1"])
        // The turn of a3 is taken at the place where it would have been.
        a.goOn()
        b.goOn()
        #expect(self.bench.tape == ["a1", "b1", "b2"])
    }

    @Test("are given up when a feed leaves before its turns, so that the others go on")
    func left() {
        let (a, b) = (self.bench.a, self.bench.b)
        a.write("a1")
        b.write("b1")
        b.arrive()
        #expect(self.bench.tape.isEmpty)
        a.marks.follow(nil)
        #expect(b.wakes > 0)
        b.goOn()
        #expect(self.bench.tape == ["b1"] && self.bench.turns.turn == .max)
    }

    @Test("of a feed that has taken all of its turns go on without it")
    func over() {
        let (a, b) = (self.bench.a, self.bench.b)
        a.write("a1")
        b.write("b1")
        a.arrive()
        a.marks.follow(nil)
        #expect(self.bench.turns.turn == 2)
        b.arrive()
        #expect(self.bench.tape == ["a1", "b1"])
    }
}
