import Market
package import NIOCore

/// The encoder of Kraken's answers and signs of life; ``KrakenEncoder`` encodes its trades.
package enum KrakenAnswerEncoder {
    /// The first frame of a connection, and the announcement of maintenance of the WebSocket service.
    ///
    /// - Parameters:
    ///   - connection: the connection's number, which may exceed 2^63.
    ///   - maintenance: its announced beginning, ns since 1970; `nil` if none is announced.
    package static func status(connection: UInt64, maintenance: Int64? = nil) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("channel", "status")
            out.field("type", "update")
            out.array("data") { out in
                out.element { out in
                    out.field("version", "2.0.10")
                    out.field("system", "online")
                    out.field("api_version", "v2")
                    out.field("connection_id", connection)
                    out.array("upcoming_maintenance") { out in
                        guard let maintenance else { return }
                        out.element { out in
                            out.field("event_id", 1)
                            out.field("title", "WebSocket API maintenance")
                            out.field("expected_start_utc", UTCText.secondStamp(maintenance))
                            out.field("expected_end_utc", nil as String?)
                            out.field("phase", "imminent_5m")
                            out.field("affected_services", ["spot_ws"])
                            out.field("order_submission", "allowed")
                            out.field("recommended_action", "disconnect_and_wait")
                        }
                    }
                    out.field("emergency", [String]())
                }
            }
        }
    }

    /// The sign of life of a connection with subscriptions on which nothing else is sent.
    package static let heartbeat = ByteBuffer(staticString: "{\"channel\":\"heartbeat\"}")

    /// Creates the answer to a subscription or its end, which is one for each pair.
    ///
    /// - Parameters:
    ///   - method: `subscribe` or `unsubscribe`.
    ///   - request: the request's number; `nil` if it had none.
    ///   - at: ns since 1970.
    package static func done(
        _ method: String,
        pair: String,
        snapshot: Bool?,
        request: Int64?,
        at: Int64
    ) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("method", method)
            if let request { out.field("req_id", request) }
            out.object("result") { out in
                out.field("channel", "trade")
                if let snapshot { out.field("snapshot", snapshot) }
                out.field("symbol", pair)
            }
            out.field("success", true)
            Self.times(at, &out)
        }
    }

    /// Creates a refusal.
    ///
    /// - Parameter pair: the refused pair; `nil` where the refusal names none.
    package static func refusal(
        _ text: String,
        method: String?,
        pair: String? = nil,
        request: Int64?,
        at: Int64
    ) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("error", text)
            if let method { out.field("method", method) }
            if let request { out.field("req_id", request) }
            out.field("success", false)
            if let pair { out.field("symbol", pair) }
            Self.times(at, &out)
        }
    }

    package static func pong(request: Int64?, at: Int64) -> ByteBuffer {
        JSONWriter.object { out in
            out.field("method", "pong")
            if let request { out.field("req_id", request) }
            Self.times(at, &out)
        }
    }

    private static func times(_ at: Int64, _ out: inout JSONWriter) {
        out.field("time_in", VenueDigits.timestamp(at))
        out.field("time_out", VenueDigits.timestamp(at))
    }
}
