/// What a client of Finnhub's own protocol asks for in its URL, beyond what Finnhub knows.
struct TradesRequestOptions: Equatable {
    /// Whether a symbol's newest trade is sent at once when it is subscribed (`snapshot=1`).
    var snapshot = false
    /// What becomes of the client when it is too slow (`overflow=close` or `overflow=latest`).
    var overflow = Backlog.Overflow.close

    init() {}

    /// Reads a request's URI. Names that are not known are passed over, as Finnhub does: a client written for it may send
    /// any.
    ///
    /// - Throws: ``HTTPRefusal`` for a bad value of a known name, or one that is given twice with different values.
    init(uri: String) throws(HTTPRefusal) {
        guard let mark = uri.firstIndex(of: "?") else { return }
        var snapshot: Bool?
        var overflow: Backlog.Overflow?
        for pair in uri[uri.index(after: mark)...].split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? PercentText.decoded(parts[1]) : ""
            switch PercentText.decoded(parts[0]) {
            case "snapshot":
                try Self.note(["1": true, "0": false], value, as: "snapshot must be 1 or 0", in: &snapshot)
            case "overflow":
                try Self.note(
                    ["close": .close, "latest": .latest],
                    value,
                    as: "overflow must be close or latest",
                    in: &overflow
                )
            default:
                continue
            }
        }
        self.snapshot = snapshot ?? false
        self.overflow = overflow ?? .close
    }

    private static func note<Value: Equatable>(
        _ meanings: [String: Value],
        _ text: String?,
        as rule: String,
        in place: inout Value?
    ) throws(HTTPRefusal) {
        guard let meaning = text.flatMap({ meanings[$0] }), place == nil || place == meaning else {
            throw .badQuery(rule)
        }
        place = meaning
    }
}
