import Market

/// What others than the feed tell the screen.
extension PriceDisplay {
    /// Begins the charts with bars of before. From any thread, at any time; without a screen, nothing.
    package func begin(with earlier: [EarlierBars]) {
        self.change { $0.begin(with: earlier, wall: self.wallClock()) }
    }

    /// Shows a symbol that is wanted from now on. From any thread.
    package func symbolAdded(_ symbol: String) {
        self.change { model in
            model.symbolAdded(symbol)
            model.happened("\(symbol) is added", at: self.wallClock())
        }
    }

    /// Shows a symbol no more, whoever else wants it. From any thread.
    package func symbolRemoved(_ symbol: String) {
        self.change { model in
            model.symbolRemoved(symbol)
            model.happened("\(symbol) is removed", at: self.wallClock())
        }
    }

    /// Writes down for the event pane what was done. From any thread.
    package func happened(_ text: String) {
        self.change { $0.happened(text, at: self.wallClock()) }
    }

}
