import Market
import Measurements
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Urgent and deferred frames")
struct ScreenNewsTests {
    private static let start = sampleNoon.monotonic

    private static func time(_ after: Int64) -> Moment {
        Moment(monotonic: Self.start + after, wall: sampleNoon.wall + after)
    }

    /// Returns a renderer after its first frame, which has used up the bytes of a second.
    private func renderer(_ state: DisplayState, look: DisplayLook = DisplayLook()) -> ScreenRenderer {
        var renderer = ScreenRenderer(DisplaySettings(depth: .none, look: look, byteLimit: .perSecond(1)))
        renderer.published(state)
        #expect(renderer.next(now: Self.start) == .draw)
        _ = renderer.draw(state, size: .init(columns: 80, rows: 24), now: Self.time(0))
        return renderer
    }

    private var state: DisplayState {
        var state = DisplayState(rows: [sampleRow(sampleSummary())], waiting: ["A:B"], status: sampleStatus())
        state.alerts = [ListedAlert(text: "A:B above 1", state: "armed")]
        state.symbolStates["A:B"] = SymbolStatus(symbol: "A:B", state: .asked, since: 0)
        return state
    }

    @Test("Prices wait for the byte budget, urgent changes do not")
    func news() {
        var renderer = self.renderer(self.state)
        var prices = self.state
        prices.rows[0].summary.price = sampleDecimal("1")
        renderer.published(prices)
        #expect(renderer.next(now: Self.start + 1) == .sleep(until: Self.start + oneSecond))
        #expect(renderer.allowed(now: Self.start + 1) == Self.start + oneSecond)
        let changes: [(inout DisplayState) -> Void] = [
            { $0.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0)) },
            { $0.gaps += 1 },
            { $0.notice = DisplayNotice(text: "the disk is full", since: Self.start) },
            { $0.alerts[0].fired = Self.start },
            { $0.rows.append(sampleRow(sampleSummary("A:B"))) },
            { $0.waiting = [] },
            { $0.symbolStates["A:B"]?.state = .refused(.noSuchSymbol, retryAt: 0) },
            { $0.symbolStates["A:B"]?.state = .quiet },
        ]
        for (number, change) in changes.enumerated() {
            var renderer = self.renderer(self.state)
            renderer.published(prices)
            var news = prices
            change(&news)
            renderer.published(news)
            #expect(renderer.next(now: Self.start + 1) == .sleep(until: Self.start + oneSecond / 10), "\(number)")
        }
        renderer.forgetScreen()
        #expect(renderer.next(now: Self.start + 1) == .sleep(until: Self.start + oneSecond / 10))
    }

    @Test("A price that becomes late by the clock is shown as late at once, regardless of the byte budget")
    func clock() {
        var state = self.state
        let left: Int64 = 400_000_000
        state.rows[0].arrived = Self.start - state.limits.lateAfter + left
        var renderer = self.renderer(state)
        #expect(renderer.next(now: Self.start + 1) == .sleep(until: Self.start + left))
        renderer.published(state)
        #expect(renderer.next(now: Self.start + 1) == .sleep(until: Self.start + left))
        // Prices that were published for the preceding frame would be late then, although a newer price is not.
        #expect(renderer.allowed(now: Self.start + 1) == Self.start + left)
        #expect(renderer.next(now: Self.start + left) == .draw)
        _ = renderer.draw(state, size: .init(columns: 80, rows: 24), now: Self.time(left))
        // The same status is not urgent again.
        renderer.published(state)
        #expect(renderer.next(now: Self.start + left) == .sleep(until: Self.start + left + oneSecond))
    }

    @Test("A change is seen to be one in a frame, however late its state and the frame come, and in no other")
    func flash() {
        var state = self.state
        state.publishedAt = Self.start - 100_000_000
        var renderer = self.renderer(state)
        // The price changed after the state above had been published, and before the next frame.
        state.rows[0].changed = (Self.start - 50_000_000, sampleDecimal("61837.51"))
        state.publishedAt = Self.start + 900_000_000
        renderer.forgetScreen()
        func isFlashing(at time: Int64) -> Bool {
            renderer.forgetScreen()
            var terminal = TerminalEmulator(size: .init(columns: 80, rows: 24))
            terminal.feed(renderer.draw(state, size: .init(columns: 80, rows: 24), now: Self.time(time)))
            #expect(terminal.text.contains { $0.contains("BTCUSDT") } && terminal.strange == [])
            return terminal.styles.joined().contains { $0.attributes.contains(7) }
        }
        #expect(isFlashing(at: oneSecond))
        #expect(!isFlashing(at: oneSecond + 100_000_000))
    }

    @Test("The title changes once a second at most, and the last one comes")
    func title() {
        var state = self.state
        state.waiting = []
        let look = DisplayLook(setsTitle: true)
        var renderer = self.renderer(state, look: look)
        func title(_ price: String, at time: Int64) -> Bool {
            state.rows[0].summary.price = sampleDecimal(price)
            renderer.published(state)
            renderer.touched()
            let bytes = renderer.draw(state, size: .init(columns: 80, rows: 24), now: Self.time(time))
            return String(decoding: bytes, as: UTF8.self).contains("\u{1B}]2;")
        }
        #expect(!title("61838.00", at: 100_000_000))
        #expect(!title("61839.00", at: 900_000_000))
        guard case .sleep(let until?) = renderer.next(now: Self.start + 900_000_001) else {
            Issue.record("nothing is to come")
            return
        }
        #expect(until <= Self.start + 900_000_000 + oneSecond)
        #expect(title("61839.00", at: oneSecond))
        #expect(!title("61839.00", at: 3 * oneSecond))
        #expect(title("61840.00", at: 4 * oneSecond))
    }
}
