import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("Holdings and groups on the screen")
struct HoldingsScreenTests {
    private static let lots = [
        Lot(symbol: "X:A", quantity: sampleDecimal("2"), cost: sampleDecimal("60000"), currency: "USDT"),
        Lot(symbol: "X:B", quantity: sampleDecimal("0.5"), cost: sampleDecimal("62000"), currency: "USDT"),
    ]

    private static func state(_ holdings: Holdings, _ rows: [SymbolSummary]? = nil) -> DisplayState {
        let rows = rows ?? ["X:A", "X:B", "X:C"].map { sampleSummary($0) }
        var state = DisplayState(rows: rows.map { sampleRow($0) }, status: sampleStatus())
        state.holdings = holdings
        return state
    }

    private static func text(
        _ state: DisplayState,
        _ choice: DisplayChoice = DisplayChoice(),
        columns: Int = 160,
        rows: Int = 12,
        look: DisplayLook = DisplayLook()
    ) -> String {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        let grid = DisplayView.frame(of: state, choice: choice, size: size, now: sampleNoon, look: look).grid
        return (0..<rows).map { grid.line($0) }.joined(separator: "\n")
    }

    @Test("each row has value, profit in all and in the span of the change, weight and quantity; a line has the sums")
    func table() {
        let text = Self.text(Self.state(Holdings(lots: Self.lots)))
        for words in [
            "VALUE", "SESSION PROFIT", "WEIGHT", "HOLDING", "123675.26 USDT", "+3675.26 (+3.06%)", "+24.26", "80.0%",
            "30918.82 USDT", "-81.18 (-0.26%)", "20.0%",
            "value 154594.08 USDT   session +30.32 (+0.02%)   profit +3594.08 (+2.38%)",
        ] {
            #expect(text.contains(words), "\(words) in\n\(text)")
        }
        #expect(!Self.text(Self.state(Holdings())).contains("VALUE"))
    }

    @Test("hidden amounts leave percentages and prices, and are as long for every amount")
    func hidden() {
        var choice = DisplayChoice()
        choice.hidesAmounts = true
        let text = Self.text(Self.state(Holdings(lots: Self.lots)), choice)
        #expect(text.contains("••••• USDT") && text.contains("80.0%") && text.contains("(+3.06%)"))
        for amount in ["123675", "3675.26", "154594", "24.26", "0.5 "] { #expect(!text.contains(amount), "\(amount)") }
        #expect(text.contains("61837.63"))
        choice.opened = "X:A"
        let card = Self.text(Self.state(Holdings(lots: Self.lots)), choice, rows: 24)
        #expect(card.contains("value ••••• USDT") && card.contains("holding •••••") && !card.contains("123675"))
        #expect(
            Self.text(Self.state(Holdings(lots: Self.lots)), choice, look: DisplayLook(glyphs: .ascii)).contains(
                "*****"
            )
        )
    }

    @Test("a missing price is counted, and an old one dims the sum")
    func missing() {
        var state = Self.state(Holdings(lots: Self.lots), [sampleSummary("X:A")])
        state.waiting = ["X:B"]
        let text = Self.text(state)
        #expect(text.contains("value 123675.26 USDT") && text.contains("1 of 2 without a price"))
        #expect(!text.contains("80.0%") && !text.contains("100.0%"))
    }

    @Test("amounts are shown in the chosen currency once its rate has a price")
    func currency() {
        let rate = CurrencyRate(symbol: "X:C", base: "EUR", quote: "USDT")
        let holdings = Holdings(lots: Self.lots, rates: [rate], currency: "EUR")
        let rows = ["X:A", "X:B"].map { sampleSummary($0) } + [sampleSummary("X:C", price: "1.25", open: "1.25")]
        #expect(Self.text(Self.state(holdings, rows)).contains("value 123675.26 EUR"))
        #expect(Self.text(Self.state(holdings, Array(rows.prefix(2)))).contains("value 154594.08 USDT"))
    }

    @Test("currencies without a rate have a sum each")
    func currencies() {
        var lots = Self.lots
        lots[1].currency = "EUR"
        let text = Self.text(Self.state(Holdings(lots: lots)))
        #expect(text.contains("value 123675.26 USDT") && text.contains("value 30918.82 EUR"))
        #expect(!text.contains("80.0%"))
    }

    @Test("small amounts have up to eight decimals")
    func small() {
        let amounts = AmountText(look: DisplayLook(), isHidden: false)
        for (number, text) in [
            ("0.00012345", "0.00012345"), ("0.5", "0.50"), ("1.005", "1.00"), ("-0.000000001", "0.00"), ("12", "12.00"),
        ] {
            #expect(amounts.amount(ExactSum(sampleDecimal(number))) == text)
        }
    }

    @Test("Tab opens the groups in turn, each with its own order and its own sum")
    func groups() {
        let state = Self.state(
            Holdings(lots: Self.lots),
            [sampleSummary("X:A", price: "5"), sampleSummary("X:B", price: "7"), sampleSummary("X:C", price: "6")]
        )
        var controller = ScreenController(
            remote: .sample { _ in },
            groups: [
                SymbolGroup(name: "Two", symbols: ["X:C", "X:B"]),
                SymbolGroup(name: "By price", symbols: ["X:A", "X:B", "X:C"], sort: TableSort(order: .price)),
            ]
        )
        func press(_ key: TerminalKey) { _ = controller.took(.key(key), state: state, now: sampleNoon) }
        func shown() -> [String] { controller.symbols(state, sampleNoon) }
        #expect(shown() == ["X:A", "X:B", "X:C"])
        #expect(Self.text(state, controller.choice).contains(" All   Two   By price"))
        press(.named(.tab))
        #expect(shown() == ["X:C", "X:B"])
        let text = Self.text(state, controller.choice)
        #expect(text.contains("value 3.50 USDT") && !text.contains("X:A"))
        press(.named(.tab))
        #expect(shown() == ["X:B", "X:C", "X:A"])
        press(.character("S"))
        #expect(shown() == ["X:A", "X:C", "X:B"])
        press(.named(.tab))
        #expect(shown() == ["X:A", "X:B", "X:C"])
        press(.shifted(.tab))
        #expect(shown() == ["X:A", "X:C", "X:B"])
    }

    @Test("a click on a tab opens its group, and one without a followed symbol says so")
    func clicked() {
        let state = Self.state(Holdings())
        var controller = ScreenController(
            remote: .sample { _ in },
            groups: [SymbolGroup(name: "Two", symbols: ["X:C", "X:B"]), SymbolGroup(name: "None", symbols: ["X:Z"])],
            takesMouse: true
        )
        func click(_ column: Int) -> String {
            let size = ScreenGrid.Size(columns: 80, rows: 12)
            let frame = DisplayView.frame(of: state, choice: controller.choice, size: size, now: sampleNoon)
            controller.clickAreas = frame.clickAreas
            let row = (0..<12).first { frame.grid.line($0).contains(" All ") } ?? 0
            let mouse = TerminalMouse(.press, row: row, column: column)
            _ = controller.took(.mouse(mouse), state: state, now: sampleNoon)
            return Self.text(state, controller.choice)
        }
        #expect(!click(8).contains("X:A") && controller.choice.openGroup == 0)
        #expect(click(14).contains("no symbol of None is followed here"))
        #expect(click(2).contains("X:A") && controller.choice.openGroup == nil)
        #expect(click(70).contains("X:A"))
    }

    @Test("without groups or holdings their keys say which setting gives them")
    func without() {
        var controller = ScreenController(remote: .sample { _ in })
        let state = Self.state(Holdings())
        for (key, words) in [(TerminalKey.named(.tab), "write them to groups"), (.character("$"), "holdings.lots")] {
            _ = controller.took(.key(key), state: state, now: sampleNoon)
            #expect(controller.notice?.text.contains(words) == true)
        }
    }

    @Test("the table sorts by value and by profit only if there are holdings")
    func sorting() {
        var controller = ScreenController(remote: .sample { _ in })
        func orders(_ state: DisplayState) -> Set<String> {
            var seen: Set<String> = []
            for _ in DisplayOrder.allCases {
                _ = controller.took(.key(.character("s")), state: state, now: sampleNoon)
                seen.insert(controller.choice.order.rawValue)
            }
            return seen
        }
        #expect(!orders(Self.state(Holdings())).contains("value"))
        let state = Self.state(Holdings(lots: Self.lots))
        #expect(orders(state).isSuperset(of: ["value", "profit"]))
        let choice = DisplayChoice(order: .value, isReversed: true)
        #expect(DisplayListing.symbols(of: state, choice: choice, now: sampleNoon) == ["X:C", "X:B", "X:A"])
    }
}
