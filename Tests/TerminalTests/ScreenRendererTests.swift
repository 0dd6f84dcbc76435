import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The pictures of a screen, one after the other")
struct ScreenRendererTests {
    private static let size = ScreenGrid.Size(columns: 80, rows: 24)
    private static let tenth: Int64 = 100_000_000

    private static func settings(_ bytes: Int? = 1_000) -> DisplaySettings {
        var settings = DisplaySettings(depth: .many, byteLimit: bytes.map { .perSecond($0) } ?? .none)
        settings.statedBackground = .dark
        settings.look.setsTitle = true
        return settings
    }

    private static func time(_ elapsed: Int64) -> Moment {
        Moment(monotonic: sampleNoon.monotonic + elapsed, wall: sampleNoon.wall + elapsed)
    }

    /// Returns a state whose price changed at this time.
    private static func state(_ price: String, at elapsed: Int64, from before: String = "61837.63") -> DisplayState {
        var row = sampleRow(sampleSummary(price: price))
        row.arrived = Self.time(elapsed).monotonic
        row.changed = (row.arrived, sampleDecimal(before))
        row.direction = .up
        return DisplayState(rows: [row], status: sampleStatus())
    }

    private static func draw(_ renderer: inout ScreenRenderer, at elapsed: Int64) -> String? {
        let now = Self.time(elapsed)
        guard renderer.next(now: now.monotonic) == .draw, let state = renderer.state else { return nil }
        return String(decoding: renderer.draw(state, size: Self.size, now: now), as: UTF8.self)
    }

    @Test("Prices wait until the sent bytes have been earned, and urgent changes do not")
    func urgency() throws {
        var renderer = ScreenRenderer(Self.settings())
        renderer.published(Self.state("61837.63", at: 0))
        let first = try #require(Self.draw(&renderer, at: 0))
        #expect(first.utf8.count > 400)
        // Ten complete redraws would exceed the budget tenfold.
        renderer.forgetScreen()
        #expect(Self.draw(&renderer, at: Self.tenth) != nil)
        renderer.forgetScreen()
        #expect(Self.draw(&renderer, at: 2 * Self.tenth) != nil)
        renderer.published(Self.state("61837.64", at: 2 * Self.tenth))
        #expect(Self.draw(&renderer, at: 3 * Self.tenth) == nil)
        #expect(renderer.allowed(now: Self.time(3 * Self.tenth).monotonic) > Self.time(5 * Self.tenth).monotonic)
        // The connection is lost.
        var broken = Self.state("61837.65", at: 2 * Self.tenth)
        broken.status = sampleStatus(.reconnecting(attempt: 1, retryAt: sampleNoon.wall + oneSecond))
        renderer.published(broken)
        #expect(try #require(Self.draw(&renderer, at: 3 * Self.tenth)).contains("RECONNECTING"))
        // The user presses a key.
        renderer.touched()
        #expect(Self.draw(&renderer, at: 4 * Self.tenth) != nil)
        renderer.published(broken)
        #expect(Self.draw(&renderer, at: 5 * Self.tenth) == nil)
    }

    @Test("A highlight that was over before the next frame appears in that frame only")
    func flash() throws {
        var renderer = ScreenRenderer(Self.settings(nil))
        renderer.published(Self.state("61837.63", at: -oneSecond))
        #expect(try #require(Self.draw(&renderer, at: 0)).contains("48;5;236") == false)
        // The next frame is due after half a second.
        renderer.published(Self.state("61837.64", at: Self.tenth))
        #expect(try #require(Self.draw(&renderer, at: 5 * Self.tenth)).contains("48;5;236"))
        let after = try #require(Self.draw(&renderer, at: 6 * Self.tenth))
        #expect(!after.contains("48;5;236") && after.contains("4"))
    }

    @Test("The title changes once a second at most, and then has the newest price")
    func title() throws {
        var renderer = ScreenRenderer(Self.settings(nil))
        renderer.published(Self.state("1.00", at: 0))
        #expect(try #require(Self.draw(&renderer, at: 0)).contains("]2;▲ 1.00"))
        for tenth in Int64(1)...9 {
            renderer.published(Self.state("1.0\(tenth)", at: tenth * Self.tenth))
            #expect(try #require(Self.draw(&renderer, at: tenth * Self.tenth)).contains("]2;") == false)
        }
        // The clock alone causes the next frame.
        guard case .sleep(let until?) = renderer.next(now: Self.time(9 * Self.tenth).monotonic) else {
            Issue.record("nothing is due")
            return
        }
        #expect(until <= Self.time(10 * Self.tenth).monotonic)
        #expect(try #require(Self.draw(&renderer, at: 10 * Self.tenth)).contains("]2;▲ 1.09"))
    }
}
