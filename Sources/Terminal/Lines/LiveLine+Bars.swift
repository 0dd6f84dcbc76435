import Market
import Wire

extension LiveLine {
    /// One symbol of the line at one moment.
    struct Entry {
        /// Why a symbol's price is missing, or is not to be trusted.
        enum Trouble {
            case noTrade, old, quiet
            /// The service refuses the symbol; the refusal in one word.
            case refused(String)

            var words: String {
                switch self {
                case .noTrade: "no trade yet"
                case .old: "old"
                case .quiet: "quiet"
                case .refused(let word): word
                }
            }

            /// The same for a style sheet.
            var styleClass: String {
                switch self {
                case .noTrade: "no-trade"
                case .old: "old"
                case .quiet: "quiet"
                case .refused: "refused"
                }
            }
        }

        let symbol: String
        /// The symbol as the line names it.
        let name: String
        private let row: Row
        /// The age of the price, ns.
        let age: Int64?
        let trouble: Trouble?
        /// What the change is counted from; `nil` without a price.
        let base: ChangeBase?

        /// - Parameter wall: the wall clock, ns since 1970.
        init(symbol: String, name: String, row: Row, age: Int64?, trouble: Trouble?, wall: Int64) {
            self.symbol = symbol
            self.name = name
            self.row = row
            self.age = age
            self.trouble = trouble
            self.base = row.update.map { ChangeBase(open: $0.summary.open, day: row.day, wall: wall) }
        }

        private var summary: SymbolSummary? { self.row.update?.summary }

        var price: String? {
            self.summary.map { PriceText.exact($0.price, fractionDigits: self.row.fractionDigits) }
        }

        /// `BTCUSDT 61837.63 +0.02% 24h 3 s`, and a word where the symbol is in trouble.
        var text: String {
            var words = [self.name, self.price ?? "-"]
            if let summary, let base, let percent = PriceText.percent(summary.price, since: base.price) {
                words += [percent, base.span.word]
            }
            if let trouble { words.append(trouble.words) }
            if let age { words.append(AgeText.words(age)) }
            return words.joined(separator: " ")
        }

        /// The whole name with every figure.
        var detail: String {
            let name = SymbolName.word(self.symbol)
            guard let summary, let price else { return "\(name): \((self.trouble ?? .noTrade).words)" }
            var text = "\(name) \(price)"
            if let trouble { text += " \(trouble.words)" }
            if let age { text += ", \(AgeText.words(age)) ago" }
            if let base,
                let change = PriceText.change(
                    summary.price,
                    since: base.price,
                    fractionDigits: self.row.fractionDigits
                )
            {
                text += ", \(change) \(base.span.word)"
            }
            text += ", session: high \(summary.high), low \(summary.low)"
            return text + ", volume \(PriceText.shortened(summary.volume)), \(summary.trades) trades"
        }

        /// The direction of the change: `up`, `down` or `flat`; `nil` without a price that can be trusted.
        var direction: String? {
            guard self.trouble == nil, let summary, let base else { return nil }
            return summary.price == base.price ? "flat" : summary.price < base.price ? "down" : "up"
        }
    }

    // MARK: Waybar

    /// Returns the object of Waybar's custom module (waybar-custom(5)).
    static func waybar(_ line: String, shown: [Entry], details: [String], _ status: FeedStatus) -> String {
        let object = JSONWriter.object { out in
            out.field("text", Self.markup(line))
            out.field("alt", status.word)
            out.field("tooltip", Self.markup((details + [LineFormat.sentence(status)]).joined(separator: "\n")))
            out.field("class", Self.classes(shown, status))
        }
        return String(buffer: object)
    }

    /// Returns words for the style sheet: the feed's state first, then the kind of prices, the troubles of the symbols
    /// that are shown, and the direction of the first one.
    private static func classes(_ shown: [Entry], _ status: FeedStatus) -> [String] {
        var classes = [status.word]
        if status.source != .live { classes.append(status.source.word) }
        if status.isPaused { classes.append("paused") }
        if !status.certificateChecked { classes.append("unchecked") }
        for word in shown.compactMap(\.trouble?.styleClass) where !classes.contains(word) { classes.append(word) }
        if let direction = shown.first?.direction { classes.append(direction) }
        return classes
    }

    /// Escapes a text for Pango markup, which Waybar expects in text and tooltip.
    private static func markup(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    // MARK: i3blocks

    /// Returns the object of a block (i3bar's protocol). Where it says no colour, the bar's own is used.
    func i3blocks(_ line: String, shown: [Entry], state: String, _ status: FeedStatus) -> String {
        let object = JSONWriter.object { out in
            out.field("full_text", line)
            out.field("short_text", shown.first.map { "\($0.name) \($0.price ?? "-") \(state)" } ?? state)
            if let colour = self.colour(shown, status) { out.field("color", colour) }
        }
        return String(buffer: object)
    }

    /// Returns the colour of the line as `#RRGGBB`: a warning's where the feed or a symbol is in trouble, else that of the
    /// direction if one symbol is shown.
    private func colour(_ shown: [Entry], _ status: FeedStatus) -> String? {
        guard self.look.colour != .never else { return nil }
        let isInOrder = status.phase == .live || status.phase == .ended
        let ink: CellStyle.Ink? =
            if !isInOrder || shown.contains(where: { $0.trouble != nil }) {
                .warning
            } else if shown.count == 1 {
                switch shown[0].direction {
                case "up": .rising
                case "down": .falling
                default: nil
                }
            } else {
                nil
            }
        return ink.flatMap {
            ScreenPalette.hexadecimal($0, isLight: self.look.theme == .light, hues: self.look.hues)
        }
    }
}
