import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The pictures of a screen, one after the other")
struct ScreenFilmTests {
    private static let size = ScreenGrid.Size(columns: 80, rows: 24)
    private static let tenth: Int64 = 100_000_000

    private static func settings(_ bytes: Int? = 1_000) -> DisplaySettings {
        var settings = DisplaySettings(depth: .many, bytesPerSecond: bytes)
        settings.statedBackground = .dark
        settings.look.setsTitle = true
        return settings
    }

    private static func time(_ elapsed: Int64) -> Moment {
        Moment(monotonic: sampleNoon.monotonic + elapsed, wall: sampleNoon.wall + elapsed)
    }

    /// A state whose price changed at that time.
    private static func state(_ price: String, at elapsed: Int64, from before: String = "61837.63") -> DisplayState {
        var row = sampleRow(sampleSummary(price: price))
        row.arrived = Self.time(elapsed).monotonic
        row.changed = (row.arrived, sampleDecimal(before))
        row.direction = .up
        return DisplayState(rows: [row], status: sampleStatus())
    }

    private static func draw(_ film: inout ScreenFilm, at elapsed: Int64) -> String? {
        let now = Self.time(elapsed)
        guard film.next(now: now.monotonic) == .draw, let state = film.state else { return nil }
        return String(decoding: film.draw(state, size: Self.size, now: now), as: UTF8.self)
    }

    @Test("Prices wait until what was sent has been earned, and what a person must see does not")
    func urgency() throws {
        var film = ScreenFilm(Self.settings())
        film.published(Self.state("61837.63", at: 0))
        let first = try #require(Self.draw(&film, at: 0))
        #expect(first.utf8.count > 400)
        // Ten frames of a screen's first picture would be ten times the budget.
        film.forgetScreen()
        #expect(Self.draw(&film, at: Self.tenth) != nil)
        film.forgetScreen()
        #expect(Self.draw(&film, at: 2 * Self.tenth) != nil)
        film.published(Self.state("61837.64", at: 2 * Self.tenth))
        #expect(Self.draw(&film, at: 3 * Self.tenth) == nil)
        #expect(film.allowed(now: Self.time(3 * Self.tenth).monotonic) > Self.time(5 * Self.tenth).monotonic)
        // The feed breaks.
        var broken = Self.state("61837.65", at: 2 * Self.tenth)
        broken.status = sampleStatus(.reconnecting(attempt: 1, retryAt: sampleNoon.wall + oneSecond))
        film.published(broken)
        #expect(try #require(Self.draw(&film, at: 3 * Self.tenth)).contains("RECONNECTING"))
        // Somebody presses a key.
        film.touched()
        #expect(Self.draw(&film, at: 4 * Self.tenth) != nil)
        film.published(broken)
        #expect(Self.draw(&film, at: 5 * Self.tenth) == nil)
    }

    @Test("A change that was over before the next frame stands out in that one, and no longer")
    func flash() throws {
        var film = ScreenFilm(Self.settings(nil))
        film.published(Self.state("61837.63", at: -oneSecond))
        #expect(try #require(Self.draw(&film, at: 0)).contains("48;5;22") == false)
        // The next frame comes after half a second.
        film.published(Self.state("61837.64", at: Self.tenth))
        #expect(try #require(Self.draw(&film, at: 5 * Self.tenth)).contains("48;5;22"))
        let after = try #require(Self.draw(&film, at: 6 * Self.tenth))
        #expect(!after.contains("48;5;22") && after.contains("4"))
    }

    @Test("The title changes once a second at most, and then says what is newest")
    func title() throws {
        var film = ScreenFilm(Self.settings(nil))
        film.published(Self.state("1.00", at: 0))
        #expect(try #require(Self.draw(&film, at: 0)).contains("]2;▲ 1.00"))
        for tenth in Int64(1)...9 {
            film.published(Self.state("1.0\(tenth)", at: tenth * Self.tenth))
            #expect(try #require(Self.draw(&film, at: tenth * Self.tenth)).contains("]2;") == false)
        }
        // By the clock alone: nothing new has come.
        guard case .sleep(let until?) = film.next(now: Self.time(9 * Self.tenth).monotonic) else {
            Issue.record("nothing is due")
            return
        }
        #expect(until <= Self.time(10 * Self.tenth).monotonic)
        #expect(try #require(Self.draw(&film, at: 10 * Self.tenth)).contains("]2;▲ 1.09"))
    }
}
