package import Feeds
import Ingest
package import Logging
package import NIOCore
package import Wire

extension FinnhubFeed {
    /// Creates a feed that has not been started, with its own tape.
    package static func make(
        settings: FinnhubSettings,
        loop: any EventLoop,
        epoch: UInt64,
        readers: [any TapeReader],
        logger: Logger,
        wallClock: @escaping @Sendable () -> Int64,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) async throws -> FeedService {
        let tape = try await loop.submit {
            NIOLoopBound(TapeWriter(epoch: epoch, readers: readers), eventLoop: loop)
        }.get()
        return try await Self.make(
            settings,
            into: tape,
            loop: loop,
            logger: logger,
            wallClock: wallClock,
            chance: chance
        )
    }
}
