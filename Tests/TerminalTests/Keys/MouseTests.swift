import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The mouse at the screen")
struct MouseTests {
    /// A user with a mouse, at a screen of this size.
    private struct Hand {
        var person: PersonAtScreen
        let size: ScreenGrid.Size

        init(_ symbols: [String] = ["X:A", "X:B", "X:C"], columns: Int = 80, rows: Int = 24, isOn: Bool = true) {
            self.person = PersonAtScreen(symbols)
            self.size = ScreenGrid.Size(columns: columns, rows: rows)
            if isOn { self.person.presses("M") }
        }

        var frame: DisplayFrame {
            DisplayView.frame(of: self.person.shown, choice: self.person.choice, size: self.size, now: self.person.now)
        }

        /// Clicks on the first place with this text.
        mutating func clicks(_ text: String) {
            let frame = self.frame
            self.person.controller.clickAreas = frame.clickAreas
            for row in 0..<self.size.rows {
                guard let place = frame.grid.line(row).firstRange(of: text) else { continue }
                let line = frame.grid.line(row)
                let column = line.distance(from: line.startIndex, to: place.lowerBound)
                return self.does(TerminalMouse(.press, row: row, column: column))
            }
            Issue.record("\(text) is not on the screen")
        }

        mutating func does(_ mouse: TerminalMouse) {
            let commands = self.person.controller.took(.mouse(mouse), state: self.person.state, now: self.person.now)
            #expect(commands == [])
        }
    }

    @Test("A click selects a symbol, the next one opens it, and one on its name goes back")
    func opens() {
        var hand = Hand()
        hand.clicks("X:B")
        #expect(hand.person.choice.selected == "X:B" && hand.person.choice.opened == nil)
        hand.clicks("X:B")
        #expect(hand.person.choice.opened == "X:B")
        hand.clicks("2 of 3")
        #expect(hand.person.choice.opened == nil && hand.person.choice.selected == "X:B")
    }

    @Test("A click on a heading sorts by it, and the next one reverses the order")
    func sorts() {
        var hand = Hand()
        hand.clicks("PRICE")
        #expect(hand.person.choice.order == .price && !hand.person.choice.isReversed)
        hand.clicks("PRICE")
        #expect(hand.person.choice.order == .price && hand.person.choice.isReversed)
        hand.clicks("AGE")
        #expect(hand.person.choice.order == .age && !hand.person.choice.isReversed)
    }

    @Test("The wheel selects, or scrolls an open pane")
    func wheel() {
        var hand = Hand()
        hand.does(TerminalMouse(.wheelDown, row: 3, column: 3))
        #expect(hand.person.choice.selected == "X:B")
        hand.does(TerminalMouse(.wheelUp, row: 3, column: 3))
        #expect(hand.person.choice.selected == "X:A")
        hand.person.state.events = (0..<40).map { DisplayEvent(time: 0, text: "\($0)", isTrouble: false) }
        hand.person.presses("e")
        hand.does(TerminalMouse(.wheelDown, row: 3, column: 3))
        #expect(hand.person.choice.pane == .list(.events, at: 3) && hand.person.choice.selected == "X:A")
    }

    @Test("While a line is typed, a click does nothing, except on a symbol that is searched")
    func typing() {
        var hand = Hand()
        hand.person.presses("+")
        hand.clicks("X:C")
        #expect(hand.person.prompt != nil && hand.person.choice.selected == nil)
        hand.person.presses(.named(.escape), "/")
        hand.person.types("x")
        hand.clicks("X:C")
        #expect(hand.person.prompt == nil && hand.person.choice.selected == "X:C")
    }

    @Test("It is off at first; the key switches it with a word about it, and the help then names what it does")
    func switched() {
        var hand = Hand(isOn: false)
        #expect(hand.person.controller.mouseHelp == [])
        hand.clicks("X:C")
        hand.does(TerminalMouse(.wheelDown, row: 3, column: 3))
        #expect(hand.person.choice.selected == nil)
        #expect(hand.person.presses("M") == [.takeMouse(true)])
        #expect(hand.person.said?.contains("M gives it back") == true)
        hand.person.presses("?")
        guard case .list(.help(let keys), _) = hand.person.choice.pane else {
            Issue.record("no help")
            return
        }
        #expect(keys.contains { $0.keys == "Wheel" })
        #expect(hand.person.presses("M") == [.takeMouse(false)])
    }

    @Test("Clicks anywhere on a screen of any size do no harm")
    func anywhere() {
        for (columns, rows) in [(1, 1), (20, 1), (10, 3), (80, 24), (200, 60)] {
            var hand = Hand(["X:A", "株式:東京", "X:C"], columns: columns, rows: rows)
            var numbers = SeededGenerator(seed: 7)
            for _ in 0..<200 {
                hand.person.controller.clickAreas = hand.frame.clickAreas
                let kinds: [TerminalMouse.Kind] = [.press, .press, .wheelUp, .wheelDown]
                hand.does(
                    TerminalMouse(
                        kinds.randomElement(using: &numbers) ?? .press,
                        row: .random(in: 0...rows, using: &numbers),
                        column: [0, columns, 99_998].randomElement(using: &numbers) ?? 0
                    )
                )
            }
        }
    }
}
