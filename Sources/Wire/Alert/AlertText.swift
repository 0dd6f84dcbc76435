package import Market
package import NIOCore

/// An alert as text for each output. Untrusted text in it is made harmless here.
package enum AlertText {
    /// Formats an alert as one line: `2026-01-01T00:00:00.147Z BINANCE:BTCUSDT: 60001.5 is above 60000 (BINANCE:BTCUSDT
    /// above 60000)`.
    package static func line(_ alert: Alert) -> String {
        let reason = ScreenText.clean(alert.reason, columns: 256)
        let symbol = ScreenText.clean(alert.symbol, columns: 128)
        let rule = ScreenText.clean(alert.rule, columns: AlertRule.maximumBytes)
        return "\(UTCText.timestamp(alert.time)) \(symbol): \(reason) (\(rule))"
    }

    /// Formats an alert as a JSON object without a line end. Prices are strings, and `time` is in ms since 1970.
    package static func json(_ alert: Alert) -> ByteBuffer {
        var out = JSONWriter(type: "alert")
        out.field("rule", alert.rule)
        out.field("kind", alert.kind)
        out.field("symbol", alert.symbol)
        out.field("price", alert.price?.description)
        out.field("time", alert.time / 1_000_000)
        out.field("reason", alert.reason)
        out.field("count", alert.count)
        return out.finish()
    }

    /// Returns the bytes that notify a user through the terminal, for the actions that use it.
    package static func call(_ alert: Alert, _ actions: Set<AlertAction>) -> [UInt8] {
        var text = ""
        let symbol = Self.plain(alert.symbol, columns: 64)
        let reason = Self.plain(alert.reason, columns: 160)
        if actions.contains(.osc9) { text += "\u{1B}]9;\(symbol): \(reason)\u{1B}\\" }
        // Semicolons separate the parts of this command.
        if actions.contains(.osc777) { text += "\u{1B}]777;notify;\(symbol);\(reason)\u{1B}\\" }
        if actions.contains(.bell) { text += "\u{07}" }
        return Array(text.utf8)
    }

    /// Makes text safe within a terminal's command: no control characters, and no semicolon, which would end a part.
    private static func plain(_ text: String, columns: Int) -> String {
        String(ScreenText.clean(text, columns: columns).map { $0 == ";" ? "," : $0 })
    }

    /// Returns the heading and the body of a desktop notification; markup in the body is escaped.
    package static func desktop(_ alert: Alert) -> (heading: String, body: String) {
        let body = ScreenText.clean(alert.reason, columns: 256)
        var escaped = ""
        for character in body {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
        return (ScreenText.clean(alert.symbol, columns: 64), escaped)
    }
}
