import Market

/// The data of Kraken's `status` channel (docs.kraken.com, api-reference/spot-websocket-v2/status): the state of the
/// trading engine, scheduled maintenance within 72 hours, and incidents.
struct KrakenStatus {
    /// A scheduled maintenance or an incident.
    private struct Advisory {
        var title: JSONString?
        var start: JSONString?
        var end: JSONString?
        var impact: JSONString?
        var services: [String] = []

        /// Whether it affects what this program uses. An entry that names no service may.
        var isOfOurs: Bool {
            self.services.isEmpty || self.services.contains { KrakenStatus.services[$0] != nil }
        }

        /// Its services in words, in parentheses; empty without one.
        var affected: String {
            let words = self.services.compactMap { KrakenStatus.services[$0] }
            return words.isEmpty ? "" : " (\(words.joined(separator: ", ")))"
        }

        var named: String { self.title.map { ": \(KrakenStatus.clean($0))" } ?? "" }
    }

    /// The words of the services that this program uses.
    private static let services = [
        "spot_ws": "WebSocket", "spot_rest": "REST", "spot_trading": "trading", "all": "all services",
        "unspecified": "services not named",
    ]
    /// The most advisories of a list, and the most of their services, that are read.
    private static let maximum = 16
    /// The most advisories of a list that are said.
    private static let maximumSaid = 2

    private var system: JSONString?
    private var maintenance: [Advisory] = []
    private var incidents: [Advisory] = []

    /// Reads a frame of the channel; members that cannot be read are left out.
    static func parse(_ frame: UnsafeRawBufferPointer) -> VenueServiceState {
        var status = KrakenStatus()
        _ = JSONReader.wholeObject(frame) { key, reader in
            guard key.equals("data") else { return reader.skipValue() }
            return Self.list(&reader) { reader in
                // The status is the only element.
                status = KrakenStatus()
                return reader.object { key, reader in
                    if key.equals("system") { return reader.take(string: &status.system) }
                    if key.equals("upcoming_maintenance") { return Self.take(&reader, into: &status.maintenance) }
                    if key.equals("emergency") { return Self.take(&reader, into: &status.incidents) }
                    return reader.skipValue()
                }
            }
        }
        return status.state
    }

    private static func take(_ reader: inout JSONReader, into advisories: inout [Advisory]) -> Bool {
        advisories = []
        return Self.list(&reader) { reader in
            var advisory = Advisory()
            let isWhole = reader.object { key, reader in
                if key.equals("title") { return reader.take(string: &advisory.title) }
                if key.equals("expected_start_utc") { return reader.take(string: &advisory.start) }
                if key.equals("expected_end_utc") { return reader.take(string: &advisory.end) }
                if key.equals("impact") { return reader.take(string: &advisory.impact) }
                guard key.equals("affected_services"), reader.kind() == .array else { return reader.skipValue() }
                var copy = reader
                advisory.services = copy.strings(atMost: Self.maximum) ?? []
                return reader.skipValue()
            }
            if advisories.count < Self.maximum { advisories.append(advisory) }
            return isWhole
        }
    }

    /// Reads the objects of a list, and skips everything else.
    private static func list(_ reader: inout JSONReader, _ element: (inout JSONReader) -> Bool) -> Bool {
        guard reader.kind() == .array, reader.take(UInt8(ascii: "[")) else { return reader.skipValue() }
        if reader.take(UInt8(ascii: "]")) { return true }
        repeat {
            guard reader.kind() == .object ? element(&reader) : reader.skipValue() else { return false }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]"))
    }

    // MARK: Words

    private var state: VenueServiceState {
        let after = "; no cure is needed, and trades come again when it is over"
        var texts: [String] = []
        var isHalted = true
        switch self.system?.text {
        case "online", nil: isHalted = false
        case "maintenance": texts = ["Kraken is down for maintenance" + after]
        case "cancel_only": texts = ["Kraken only cancels orders and makes no trades" + after]
        case "post_only": texts = ["Kraken only takes orders that wait (post-only) and makes no trades" + after]
        case let word?:
            isHalted = false
            texts = ["Kraken's trading engine is in the state \(ScreenText.clean(word, columns: 32))"]
        }
        texts += Self.said(self.incidents) { incident in
            let impact = incident.impact.map { "\(Self.clean($0, 16)) " } ?? ""
            return "Kraken has an incident of \(impact)impact\(incident.affected)\(incident.named)"
        }
        texts += Self.said(self.maintenance) { window in
            let from = window.start.map { " from \(Self.time($0))" } ?? ""
            let to = window.end.map { " to \(Self.time($0))" } ?? ""
            return "Kraken has announced maintenance\(window.affected)\(from)\(to)\(window.named)"
        }
        return VenueServiceState(isHalted: isHalted, text: texts.isEmpty ? nil : texts.joined(separator: "; "))
    }

    private static func said(_ advisories: [Advisory], _ words: (Advisory) -> String) -> [String] {
        let ours = advisories.filter(\.isOfOurs)
        let more = ours.count - Self.maximumSaid
        return ours.prefix(Self.maximumSaid).map(words) + (more > 0 ? ["and \(more) more"] : [])
    }

    /// Returns a time as `2026-11-28 08:00 UTC`, or the text as it stands if it is none.
    private static func time(_ text: JSONString) -> String {
        guard let time = text.withUnescaped({ VenueTime.nanoseconds($0) }) else { return Self.clean(text, 40) }
        return "\(UTCText.date(time)) \(UTCText.timeOfDay(time).prefix(5)) UTC"
    }

    private static func clean(_ text: JSONString, _ columns: Int = 120) -> String {
        ScreenText.clean(text.text(atMost: 512), columns: columns)
    }
}
