/// The form in which prices leave through standard output.
package enum OutputFormat: String, Sendable, Equatable, CaseIterable {
    /// The live screen.
    case tui
    /// One line a price, for people.
    case plain
    /// One JSON object a line, for programs.
    case json
    /// A header and one record a price (RFC 4180), for spreadsheets and programs.
    case csv
    /// All symbols in one line, a new one whenever its words change, for status bars.
    case oneline
    /// The same as one JSON object a line, as Waybar's custom module wants it.
    case waybar

    /// The format in force: the one asked for, as far as the output can carry it.
    ///
    /// A screen needs a terminal that can be drawn on; without one (a pipe, `TERM=dumb` or none) lines take its place.
    package static func inForce(asked: OutputFormat?, outputIsTerminal: Bool, term: String?) -> OutputFormat {
        switch asked ?? .tui {
        case .plain, .json, .csv, .oneline, .waybar:
            return asked ?? .plain
        case .tui:
            let term = term ?? ""
            return outputIsTerminal && !term.isEmpty && term != "dumb" ? .tui : .plain
        }
    }
}
