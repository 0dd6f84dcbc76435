package import NIOCore
import Wire

/// One headline as the service publishes it.
package struct Headline: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    package var time: Int64
    package var source: String
    package var text: String
    /// The address of the article; empty if the service gives none with `http` or `https`.
    package var url: String

    package init(time: Int64, source: String, text: String, url: String) {
        self.time = time
        self.source = source
        self.text = text
        self.url = url
    }

    private static let longestText = 512
    private static let maximumListed = 10_000

    /// Reads the answer of `/news`, the newest first; `nil` if it is not a list of headlines.
    package static func list(_ body: ByteBuffer) -> [Headline]? {
        let list = JSONObjects.read(body, limit: Self.maximumListed) { object -> Headline? in
            // Seconds from 1970 to 2286, so that nanoseconds do not overflow.
            guard let text = object.text("headline"), !text.isEmpty, let seconds = object.number("datetime"),
                (0..<9_200_000_000).contains(seconds)
            else { return nil }
            let url = object.text("url") ?? ""
            let isLink = url.hasPrefix("https://") || url.hasPrefix("http://")
            return Headline(
                time: seconds * 1_000_000_000,
                source: String((object.text("source") ?? "").prefix(64)),
                text: String(text.prefix(Self.longestText)),
                url: isLink && url.utf8.count <= 2_048 ? url : ""
            )
        }
        return list?.sorted { $0.time > $1.time }
    }
}

/// The newest headlines about crypto currencies.
package actor Headlines {
    /// How long a result is reused, ns: five minutes.
    private static let goodFor: Int64 = 300_000_000_000
    /// The pause after a failure, ns.
    private static let pause: Int64 = 10_000_000_000

    private let client: ServiceClient?
    /// Nanoseconds since 1970.
    private let wallClock: @Sendable () -> Int64
    private var newest: (result: Result<[Headline], ServiceFailure>, until: Int64)?
    private var loading: Task<Result<[Headline], ServiceFailure>, Never>?

    /// - Parameter client: `nil` if there is no key.
    package init(_ client: ServiceClient?, wallClock: @escaping @Sendable () -> Int64) {
        self.client = client
        self.wallClock = wallClock
    }

    /// Returns the headlines, the newest first. An empty list is a failure that says so.
    package func latest() async -> Result<[Headline], ServiceFailure> {
        let now = self.wallClock()
        if let newest, now < newest.until, now > newest.until - Self.goodFor - 86_400_000_000_000 {
            return newest.result
        }
        if let loading { return await loading.value }
        guard let client else { return .failure(.noKey) }
        let loading = Task { await Self.fetch(from: client) }
        self.loading = loading
        let result = await loading.value
        self.loading = nil
        var until = now + Self.goodFor
        if case .failure(let failure) = result {
            until = now + Self.pause
            if case .limited(let limit) = failure.kind { until = limit }
        }
        self.newest = (result, until)
        return result
    }

    private static func fetch(from client: ServiceClient) async -> Result<[Headline], ServiceFailure> {
        switch await client.get("/news", query: [("category", "crypto")]) {
        case .failure(let failure):
            return .failure(failure)
        case .success(let body):
            guard let list = Headline.list(body) else {
                return .failure(ServiceFailure(notWhat: "a list of headlines", body: body))
            }
            guard !list.isEmpty else {
                return .failure(ServiceFailure(.unknown, "the service has no headlines about crypto currencies now"))
            }
            return .success(list)
        }
    }
}
