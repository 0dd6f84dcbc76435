import Logging
import Market
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting
import Wire
@testable import Ingest

/// A feed on whose tape each frame is one trade, with the marks of a replay.
private final class MarkedFeed: FeedInputDelegate {
    let marks = FrameMarks()
    let log = TapeLog()
    let input: FeedInput
    private let tape: TapeWriter
    var pauses: [Bool] = []
    private var time: Int64 = 0

    init() {
        self.tape = TapeWriter(epoch: 7, readers: [self.log])
        self.input = FeedInput(
            self.tape,
            FeedInput.Settings(name: "feed", repeats: .ignored, isLive: false, marks: self.marks),
            status: FeedStatus(source: .replay(file: "test", speed: 1), phase: .live, since: 0),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        self.input.delegate = self
    }

    private var now: Moment {
        self.time += 1
        return Moment(monotonic: self.time, wall: self.time)
    }

    func open(_ port: Int) { self.input.connectionOpened(port: port, now: self.now) }

    func obey() { self.input.obeyMarks(now: self.now) }

    /// Takes a number of frames in one read, as a connection does.
    func read(_ count: Int) {
        for _ in 0..<count {
            if self.input.hasDueMarks { self.obey() }
            self.input.take(ByteBuffer(string: "frame"), of: .finnhub, now: self.time) { _, symbols, trades in
                guard let symbol = symbols.intern("A") else { return .trades(skipped: 1) }
                trades.append(Trade(price: .zero, size: .zero, exchangeTime: self.time, symbol: symbol))
                return .trades(skipped: 0)
            }
        }
        self.input.endRead(wall: self.time)
    }

    func tradesArrived(_ trades: [Trade], symbols: SymbolTable, now: Moment) -> Bool { false }
    func publishChanges() {}
    func readEnded(hasTrades: Bool, hasChanges: Bool, now: Moment) {}
    func pauseChanged(_ isPaused: Bool, now: Moment) { self.pauses.append(isPaused) }
}

@Suite("The marks of a replay")
struct FrameMarksTests {
    private let feed = MarkedFeed()
    private static func moved(_ reason: String, isPaused: Bool = false) -> FrameMark {
        .changed(movedBecause: reason, isPaused: isPaused, speed: 1)
    }

    @Test("take effect after the frame whose number they name, whether they come before or after it")
    func order() {
        self.feed.open(1)
        // Long before the frame, amid a read, and after the frame was taken.
        self.feed.marks.post(Self.moved("first"), after: 2, on: 1)
        self.feed.marks.post(Self.moved("second"), after: 3, on: 1)
        self.feed.obey()
        #expect(self.feed.log.contents.gaps.isEmpty)
        self.feed.read(4)
        #expect(self.feed.log.contents.order == ["read 2", "gap", "read 1", "gap", "read 1"])
        #expect(self.feed.log.contents.gaps.map(\.nextSequence) == [3, 4])
        self.feed.marks.post(Self.moved("third"), after: 4, on: 1)
        self.feed.obey()
        #expect(self.feed.log.contents.gaps.map(\.reason) == ["first", "second", "third"])
        #expect(self.feed.log.contents.gaps.allSatisfy { $0.cause == .seek })
    }

    @Test("after a frame that never comes take effect at the end of the connection; those about the frame do not")
    func cut() {
        self.feed.open(1)
        self.feed.read(1)
        self.feed.marks.post(.repeats([0]), after: 2, on: 1)
        self.feed.marks.post(Self.moved("moved", isPaused: true), after: 3, on: 1)
        self.feed.marks.post(.gap(Gap(from: 5, to: 6, reason: "lost", nextSequence: 0)), after: 3, on: 1)
        self.feed.obey()
        #expect(self.feed.log.contents.gaps.isEmpty && self.feed.pauses.isEmpty)
        self.feed.input.connectionEnded(now: Moment(monotonic: 50, wall: 50))
        #expect(self.feed.log.contents.gaps.map(\.reason) == ["moved", "in the recording: lost"])
        #expect(self.feed.pauses == [true])
        // A mark that the player posts before it has noticed the end takes effect at once.
        self.feed.marks.post(Self.moved("late"), after: 3, on: 1)
        self.feed.marks.post(.repeats([0]), after: 3, on: 1)
        self.feed.obey()
        #expect(self.feed.log.contents.gaps.last?.reason == "late")
        // The frames of the next connection are counted anew, and no old mark concerns them.
        self.feed.open(2)
        #expect(self.feed.pauses == [true, false])
        self.feed.marks.post(.repeats([0]), after: 1, on: 2)
        self.feed.marks.post(Self.moved("of another"), after: 0, on: 1)
        self.feed.read(3)
        #expect(self.feed.log.contents.trades.map { !$0.marks.isEmpty } == [false, false, true, false])
        #expect(self.feed.log.contents.gaps.count == 3)
    }

    @Test("wake the feed when no frame may come, but not for a mark about the next frame")
    func wake() {
        let woken = NIOLockedValueBox(0)
        self.feed.marks.follow { woken.withLockedValue { $0 += 1 } }
        self.feed.open(1)
        self.feed.marks.post(Self.moved("a"), after: 0, on: 1)
        self.feed.marks.post(.arrival(5), after: 0, on: 1)
        self.feed.marks.post(.repeats([1]), after: 0, on: 1)
        // A mark of another connection.
        self.feed.marks.post(Self.moved("b"), after: 0, on: 2)
        #expect(woken.withLockedValue { $0 } == 1)
        self.feed.marks.follow(nil)
        self.feed.marks.post(Self.moved("c"), after: 0, on: 1)
        #expect(woken.withLockedValue { $0 } == 1)
    }

    @Test("change the pace, and suspend the detection of silence while the replay is paused")
    func pause() {
        self.feed.open(1)
        self.feed.marks.post(.changed(movedBecause: nil, isPaused: true, speed: 1), after: 0, on: 1)
        self.feed.marks.post(.changed(movedBecause: nil, isPaused: true, speed: nil), after: 0, on: 1)
        self.feed.marks.post(.changed(movedBecause: nil, isPaused: false, speed: nil), after: 0, on: 1)
        self.feed.obey()
        #expect(self.feed.pauses == [true, false])
        #expect(self.feed.log.contents.statuses.map(\.source) == [.replay(file: "test", speed: nil)])
        #expect(self.feed.log.contents.gaps.isEmpty)
    }
}
