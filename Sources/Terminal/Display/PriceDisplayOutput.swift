import Market

extension PriceDisplay {
    /// Where it shows.
    package enum Output: Sendable {
        case screen(TerminalDisplay)
        case lines(LinePrinter)
        /// Somebody on the feed's loop who is told what either would show.
        case observer(DisplayObserver)
    }
}

extension PriceDisplay.Output {
    /// Whether it is shown whole states, and not single items.
    var isScreen: Bool {
        switch self {
        case .screen: true
        case .lines: false
        case .observer(let observer): observer.state != nil
        }
    }

    /// Before this time a screen draws no prices, monotonic ns.
    var restsUntil: Int64? {
        switch self {
        case .screen(let display): display.restsUntil
        case .lines, .observer: nil
        }
    }

    func publish(_ state: DisplayState) {
        switch self {
        case .screen(let display): display.publish(state)
        case .lines: break
        case .observer(let observer): observer.state?(state)
        }
    }

    func tell(_ item: LineItem) {
        switch self {
        case .screen: break
        case .lines(let printer): printer.print(item)
        case .observer(let observer): observer.item?(item)
        }
    }
}
