import HTTP
import NIOHTTP1

/// The request that opens a session: it names the serialisations that the client speaks.
enum WAMPHandshake {
    /// Returns the first of the client's serialisations that the relay speaks.
    static func serialisation(_ head: HTTPRequestHead) throws(HTTPRefusal) -> WAMPSerialisation {
        guard head.query ?? "" == "" else {
            throw .badQuery("there are no parameters here", page: "docs/wamp.md")
        }
        for offered in head.headers[canonicalForm: "Sec-WebSocket-Protocol"] {
            if let spoken = WAMPSerialisation.allCases.first(where: { $0.subprotocol == offered }) { return spoken }
        }
        let names = WAMPSerialisation.allCases.map(\.subprotocol).joined(separator: ", ")
        throw HTTPRefusal(
            status: .badRequest,
            type: "unknown-subprotocol",
            message: "none of the subprotocols offered is supported here",
            hint: "offer one of \(names)"
        )
    }
}
