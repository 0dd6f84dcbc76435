import HTTP
package import Measurements
import NIOCore
package import Wire

/// The body of `/v1/uptime`.
package enum UptimeAnswer {
    /// The most gaps in one answer, the newest.
    static let maximumGaps = 10_000

    /// - Parameter query: the request's query.
    static func body(
        _ query: String?,
        _ past: RelayPast?,
        _ reservation: AnswerMemory.Reservation
    ) async throws -> ByteBuffer {
        let query = try QueryText(query, known: ["since", "until"])
        let since = try query.moment("since")
        let until = try query.moment("until")
        guard let past else {
            throw HTTPRefusal(
                status: .notFound,
                type: "no-history",
                message: "no history is kept here, so nothing is known of earlier times",
                hint: "start tickertape with --record; /v1/status has the gaps since the start"
            )
        }
        let live = try await past.liveTime(since, until)
        try reservation.hold(items: min(live.gaps.count, Self.maximumGaps))
        return JSONWriter.line { Self.write(live, to: &$0) }
    }

    /// Writes the members of the answer.
    package static func write(_ live: LiveTime, to out: inout JSONWriter) {
        let shown = live.gaps.suffix(Self.maximumGaps)
        out.field("since", live.from / 1_000_000)
        out.field("until", live.to / 1_000_000)
        out.field("knownSince", live.known.map { $0 / 1_000_000 })
        out.field("share", json: ByteBuffer(string: live.share.map(Self.millionths) ?? "null"))
        out.field("live", seconds: live.span - live.missed)
        out.field("missed", seconds: live.missed)
        out.field("gapCount", live.gaps.count)
        out.field("complete", shown.count == live.gaps.count)
        out.array("gaps") { out in
            for gap in shown {
                out.element { out in
                    out.field("from", gap.from / 1_000_000)
                    out.field("to", gap.to / 1_000_000)
                    out.field("seconds", seconds: gap.length)
                    out.field("reason", gap.reason)
                }
            }
        }
    }

    /// Formats a part with six decimals, cut, so that 1 means all.
    private static func millionths(_ share: Double) -> String {
        let number = max(0, min(1_000_000, Int(share * 1_000_000)))
        return "\(number / 1_000_000).\("\(1_000_000 + number % 1_000_000)".dropFirst())"
    }
}
