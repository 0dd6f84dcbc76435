/// The base address of Finnhub's REST service: `https://finnhub.io/api/v1`.
///
/// Unencrypted `http` goes to loopback only, since the key travels in each request.
package struct ServiceURL: Sendable, Equatable, CustomStringConvertible {
    /// The same as an address of a WebSocket, of which there is everything but the name of the scheme.
    package var address: StreamURL

    package static let finnhub = ServiceURL(address: StreamURL(host: "finnhub.io", port: 443, path: "/api/v1"))

    private init(address: StreamURL) { self.address = address }

    /// Reads an address, or throws what is wrong with it, without repeating a text that may hold a key.
    package init(_ text: String) throws(Misfit) {
        let schemes = [("https://", "wss://"), ("http://", "ws://")]
        guard let (scheme, other) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else {
            throw Misfit("is not a web address; write it like https://finnhub.io/api/v1", echoes: !text.contains("="))
        }
        let address: StreamURL
        do throws(Misfit) {
            address = try StreamURL(other + text.dropFirst(scheme.count))
        } catch {
            throw Misfit(Self.translated(error.reason), echoes: error.echoes)
        }
        guard !address.path.contains("?") else {
            throw Misfit("has a query; leave it out: a key goes into FINNHUB_TOKEN or token-file", echoes: false)
        }
        self.address = address
    }

    private static func translated(_ reason: String) -> String {
        reason.replacing("wss://ws.finnhub.io or ws://127.0.0.1:8080/", with: "https://finnhub.io/api/v1")
            .replacing("wss://", with: "https://").replacing("ws://", with: "http://")
    }

    package var description: String { Self.translated(self.address.description) }
}

extension Syntax<ServiceURL> {
    package static var serviceURL: Syntax {
        Syntax(read: { text throws(Misfit) in try ServiceURL(text) }, write: { "\($0)" })
    }
}
