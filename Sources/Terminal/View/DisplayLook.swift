package import Market

/// The drawing style of the screen, separate from its contents and from the terminal's colours.
package struct DisplayLook: Sendable, Equatable {
    package var glyphs: ScreenGlyphs
    /// Whether the terminal draws octants (Unicode 16), with which charts look better than with Braille.
    var hasOctants = false
    package var numbers: NumberStyle
    /// Whether the terminal takes links.
    package var hasLinks = false
    /// Whether a changed price is highlighted for a moment.
    package var flashes: Bool
    /// Whether the terminal's title shows the price.
    package var setsTitle: Bool
    /// The person's notes about symbols, by name.
    package var notes: [String: SymbolNote] = [:]
    /// The columns of the table, in order; empty for all that fit.
    package var columns: [DisplayColumn] = []
    /// The wall clock that all times are read from.
    package var clock: ScreenClock

    package init(
        glyphs: ScreenGlyphs = .unicode,
        numbers: NumberStyle = NumberStyle(),
        flashes: Bool = true,
        setsTitle: Bool = false,
        clock: ScreenClock = .utc
    ) {
        self.glyphs = glyphs
        self.numbers = numbers
        self.flashes = flashes
        self.setsTitle = setsTitle
        self.clock = clock
    }

    /// The characters of charts.
    var drawing: ChartDrawing { self.glyphs == .ascii ? .ascii : self.hasOctants ? .octants : .braille }
}
