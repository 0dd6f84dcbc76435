import Logging
import NIOCore
import Terminal

/// The settings of the screen, of lines and of the log.
extension Setting {
    static let quiet = Setting(
        "pipeline.quiet",
        \.relay.pipeline.quiet,
        Syntax.duration.within(.zero...(.hours(1))).nanoseconds,
        flags: ["quiet-for"],
        help: "A price is shown when no other price came for this long."
    )
    static let atMost = Setting(
        "pipeline.at-most",
        \.relay.pipeline.atMost,
        Syntax.duration.within(.milliseconds(1)...(.hours(1))).nanoseconds.optional("none"),
        flags: ["at-most"],
        help: "The longest that a price waits for quiet; with none it may wait for ever."
    )

    static let format = Setting(
        "display.format",
        \.display.format,
        Syntax<OutputFormat>.word(or: "auto"),
        flags: ["format"],
        help: "How prices are shown: tui, plain, json, csv, oneline, waybar, i3blocks, or auto."
    )
    static let fields = Setting(
        "display.fields",
        list: \.display.fields,
        of: .lineField,
        count: 0...100,
        flags: ["fields"],
        help: "The fields of a line of plain, csv or json, such as symbol,price,age; [] means the usual ones."
    )
    static let isOnce = Setting(
        "display.once",
        \.display.isOnce,
        .flag,
        flags: ["once"],
        help: "Print a fresh price of each symbol once and end; exit status 3 when one did not come."
    )
    static let onceWithin = Setting(
        "display.once-within",
        \.display.onceWithin,
        Syntax.duration.within(.milliseconds(10)...(.hours(1))),
        flags: ["once-within"],
        help: "The longest that display.once waits."
    )
    static let rotation = Setting(
        "display.rotate",
        \.display.rotation,
        Syntax.duration.within(.seconds(1)...(.hours(1))).optional("none"),
        flags: ["rotate"],
        help: "How long oneline, waybar and i3blocks show one symbol before the next; none shows all together."
    )
    static let colour = Setting(
        "display.colour",
        \.screen.colour,
        .word,
        flags: ["colour", "color"],
        help: "Colours: always, never, 16, 256, full, or auto (on a terminal, unless NO_COLOR is set)."
    )
    static let displayTheme = Setting(
        "display.theme",
        \.screen.theme,
        .word,
        flags: ["theme"],
        help: "The terminal's background: dark, light, or auto (the terminal is asked)."
    )
    static let displayPalette = Setting(
        "display.palette",
        \.screen.hues,
        .word,
        flags: ["palette"],
        help: "Up and down in green and red (standard) or in blue and orange (colour-blind)."
    )
    static let displayGrouping = Setting(
        "display.grouping",
        \.screen.look.numbers.grouping,
        .word,
        help: "What stands between thousands on the screen: none, comma, point, space or apostrophe."
    )
    static let displayDecimal = Setting(
        "display.decimal",
        \.screen.look.numbers.decimal,
        .word,
        help: "What stands before the fraction on the screen: point or comma."
    )
    static let displayTimeZone = Setting(
        "display.time-zone",
        \.screen.timeZone,
        .timeZone,
        help: "The zone of the times on the screen and the page: local, UTC or a name such as Europe/Berlin."
    )
    static let displayColumns = Setting(
        "display.columns",
        list: \.screen.look.columns,
        of: .displayColumn,
        count: 0...DisplayColumn.allCases.count,
        help: "The columns of the table and their order, such as symbol,price,percent; [] means all that fit."
    )
    static let displayFlash = Setting(
        "display.flash",
        \.screen.look.flashes,
        .flag,
        help: "Let the digits of a price that have changed stand out for 0.3 s."
    )
    static let displayTitle = Setting(
        "display.title",
        \.screen.mayTitle,
        .flag,
        help: "Show the price in the terminal's title, which is given back at the end."
    )
    static let displayMouse = Setting(
        "display.mouse",
        \.screen.takesMouse,
        .flag,
        help: "Let the mouse select, open, sort and scroll on the screen; it then cannot select text."
    )
    static let displayBytes = Setting(
        "display.bytes-per-second",
        \.screen.byteLimit,
        .byteLimit(within: 0...(1 << 30)),
        help: "About the most bytes a second for the terminal: busy screens are drawn less often; auto, 0 (any number)."
    )
    static let isQuiet = Setting(
        "display.quiet",
        \.display.isQuiet,
        .flag,
        flags: ["quiet"],
        help: "Show nothing; relay and record only."
    )
    static let keepsWatchlist = Setting(
        "display.keep-watchlist",
        \.display.keepsWatchlist,
        .flag,
        help: "Keep the symbols that were added and removed at the screen for the next start."
    )

    static let groups = Setting(
        "groups",
        list: \.screen.groups,
        of: .symbolGroup,
        count: 0...20,
        help: "Tabs of the screen: NAME = SYMBOL SYMBOL by ORDER; their symbols are followed."
    )
    static let symbolNotes = Setting(
        "notes",
        list: \.screen.notes,
        of: .symbolNote,
        count: 0...200,
        help: "Your own words about symbols, and colours of their names: SYMBOL COLOUR WORDS."
    )
    static let lots = Setting(
        "holdings.lots",
        list: \.holdings.lots,
        of: .lot,
        count: 0...1_000,
        keepsRepeats: true,
        help: "What you hold: SYMBOL QUANTITY at COST CURRENCY, with the cost of one unit; their symbols are followed."
    )
    static let holdingCurrency = Setting(
        "holdings.currency",
        \.holdings.currency,
        Syntax<String>.currency.optional("none"),
        help: "The currency in which holdings are shown; none leaves each in its own."
    )
    static let rates = Setting(
        "holdings.rates",
        list: \.holdings.rates,
        of: .currencyRate,
        count: 0...50,
        help: "Symbols that convert currencies: SYMBOL BASE/QUOTE; their symbols are followed."
    )
    static let hidesAmounts = Setting(
        "holdings.hidden",
        \.screen.hidesAmounts,
        .flag,
        help: "Hide amounts on the screen until a key shows them."
    )

    static let holdingClients = Setting(
        "holdings.clients",
        \.holdings.clients,
        .word,
        help: "Whether the relay's page and clients see the lots: always, never, or auto (on this machine only)."
    )

    static let reloadWatch = Setting(
        "reload.watch",
        \.watchesFiles,
        .flag,
        help: "Load the config file and the files that it names again 1 s after their last change, as SIGHUP does."
    )

    static let logLevel = Setting(
        "log.level",
        \.log.level,
        .word,
        flags: ["log-level"],
        isReloadable: true,
        help: "The least important messages to log: trace, debug, info, notice, warning, error or critical."
    )
    static let logFormat = Setting(
        "log.format",
        \.log.format,
        .word,
        flags: ["log-format"],
        help: "The form of standard error: text, journal (fields), json (an object a line), or auto (journal or text)."
    )
    static let logRepeats = Setting(
        "log.repeats",
        \.log.repeats,
        Syntax.count.within(1...1_000_000).optional("off"),
        help: "The most equal messages of a part a minute; more are counted, and the count is logged; off (any number)."
    )
    /// The levels of the parts, one setting per part.
    static let logLevels: [Setting] = LogPart.adjustable.map { part in
        Setting(
            "log.levels.\(part.rawValue)",
            \.log[part: part],
            Syntax<Logger.Level>.word(or: "same"),
            isReloadable: true,
            help: "The level of \(part.meaning), or same (log.level)."
        )
    }
}
