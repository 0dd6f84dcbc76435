import Market

extension PriceDisplay {
    /// Where it shows.
    package enum Output: Sendable {
        case screen(TerminalDisplay)
        case lines(LinePrinter)
        /// Somebody on the feed's loop who is told what either would show.
        case rehearsal(DisplayRehearsal)
    }
}

extension PriceDisplay.Output {
    /// Whether it is shown whole states, and not single items.
    var isScreen: Bool {
        switch self {
        case .screen: true
        case .lines: false
        case .rehearsal(let rehearsal): rehearsal.state != nil
        }
    }

    /// Before this time a screen draws no prices, monotonic ns.
    var restsUntil: Int64? {
        switch self {
        case .screen(let display): display.restsUntil
        case .lines, .rehearsal: nil
        }
    }

    func publish(_ state: DisplayState) {
        switch self {
        case .screen(let display): display.publish(state)
        case .lines: break
        case .rehearsal(let rehearsal): rehearsal.state?(state)
        }
    }

    func tell(_ item: LineItem) {
        switch self {
        case .screen: break
        case .lines(let printer): printer.print(item)
        case .rehearsal(let rehearsal): rehearsal.item?(item)
        }
    }
}
