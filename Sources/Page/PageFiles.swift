/// One file of the page, as it is served.
package struct PageFile: Sendable {
    /// The path at which it is served: `/`, `/page/main.js`.
    package let path: String
    package let contentType: String
    package let bytes: [UInt8]
}

/// The files of the page at `/`, built into the program: they need no folder at run time and no separate build step.
///
/// The folder `Files` holds them as the browser receives them. The build turns each into a constant (`.embedInCode`).
/// Unlike a resource bundle, a constant needs neither Foundation nor a file at run time.
package enum PageFiles {
    package static let all: [PageFile] = [
        PageFile(path: "/", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        Self.style("style.css", PackageResources.style_css),
        Self.script("theme.js", PackageResources.theme_js),
        Self.script("main.js", PackageResources.main_js),
        Self.script("relay.js", PackageResources.relay_js),
        Self.script("selection.js", PackageResources.selection_js),
        Self.script("search.js", PackageResources.search_js),
        Self.script("keys.js", PackageResources.keys_js),
        Self.script("market.js", PackageResources.market_js),
        Self.script("symbol.js", PackageResources.symbol_js),
        Self.script("tape.js", PackageResources.tape_js),
        Self.script("rows.js", PackageResources.rows_js),
        Self.script("holdings.js", PackageResources.holdings_js),
        Self.script("portfolio.js", PackageResources.portfolio_js),
        Self.script("trend.js", PackageResources.trend_js),
        Self.script("earlier.js", PackageResources.earlier_js),
        Self.script("changes.js", PackageResources.changes_js),
        Self.script("finding.js", PackageResources.finding_js),
        Self.script("history.js", PackageResources.history_js),
        Self.script("bars.js", PackageResources.bars_js),
        Self.script("pyramid.js", PackageResources.pyramid_js),
        Self.script("gaps.js", PackageResources.gaps_js),
        Self.script("past.js", PackageResources.past_js),
        Self.script("pauses.js", PackageResources.pauses_js),
        Self.script("pane.js", PackageResources.pane_js),
        Self.script("tools.js", PackageResources.tools_js),
        Self.script("touch.js", PackageResources.touch_js),
        Self.script("viewport.js", PackageResources.viewport_js),
        Self.script("prices.js", PackageResources.prices_js),
        Self.script("chart.js", PackageResources.chart_js),
        Self.script("plot.js", PackageResources.plot_js),
        Self.script("axes.js", PackageResources.axes_js),
        Self.script("chart-words.js", PackageResources.chart_words_js),
        Self.script("decimal.js", PackageResources.decimal_js),
        Self.script("words.js", PackageResources.words_js),
        Self.script("zone.js", PackageResources.zone_js),
        Self.script("texts.js", PackageResources.texts_js),
        Self.script("preferences.js", PackageResources.preferences_js),
        Self.script("token.js", PackageResources.token_js),
        Self.script("room.js", PackageResources.room_js),
        Self.script("screen.js", PackageResources.screen_js),
        Self.script("announcer.js", PackageResources.announcer_js),
        PageFile(path: "/page/icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]

    private static func script(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(path: "/page/\(name)", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    private static func style(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(path: "/page/\(name)", contentType: "text/css; charset=utf-8", bytes: bytes)
    }
}
