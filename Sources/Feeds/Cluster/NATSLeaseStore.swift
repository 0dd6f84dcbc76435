package import Cluster
package import Logging
package import NATS
package import NIOCore
import Wire

/// The leases of a cluster's ingests in a bucket of NATS' key-value store, which it creates. Belongs to one event loop.
package final class NATSLeaseStore: LeaseStore {
    /// The bucket of all clusters of a NATS account, so that two of them do not use one key of Finnhub.
    package static let bucketName = "tickertape"

    private let client: NATSClient
    private let bucket: KeyValueBucket
    private let loop: any EventLoop
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    /// The last failure that was logged.
    private var failure: String?
    private var isCreating = false

    /// - Parameter wallClock: returns ns since 1970.
    package init(
        _ client: NATSClient,
        on loop: any EventLoop,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        guard let bucket = KeyValueBucket(Self.bucketName) else { preconditionFailure("a valid name") }
        self.client = client
        self.bucket = bucket
        self.loop = loop
        self.wallClock = wallClock
        self.logger = logger
    }

    package func read(_ key: String, within limit: TimeAmount) -> EventLoopFuture<LeaseAnswer> {
        self.send(self.bucket.get(key), within: limit) { [bucket] message throws(JetStreamFailure) in
            guard let entry = try bucket.entry(message, of: key) else { return .state(.absent) }
            return .state(
                entry.isDeleted ? .deleted(revision: entry.revision) : .value(entry.value, revision: entry.revision)
            )
        }
    }

    package func write(
        _ key: String,
        _ value: ByteBuffer,
        expecting revision: UInt64,
        within limit: TimeAmount
    ) -> EventLoopFuture<LeaseAnswer> {
        self.send(self.bucket.put(key, value, expecting: revision), within: limit) {
            [bucket] message throws(JetStreamFailure) in .written(revision: try bucket.revision(message))
        }
    }

    private func send(
        _ request: NATSRequest?,
        within limit: TimeAmount,
        _ read: @escaping (NATSMessage) throws(JetStreamFailure) -> LeaseAnswer
    ) -> EventLoopFuture<LeaseAnswer> {
        guard let request else { preconditionFailure("the keys of leases are valid") }
        let promise = self.loop.makePromise(of: LeaseAnswer.self)
        self.client.request(request, within: limit).assumeIsolated().whenComplete { result in
            promise.succeed(self.answer(result, read))
        }
        return promise.futureResult
    }

    private func answer(
        _ result: Result<NATSMessage, any Error>,
        _ read: (NATSMessage) throws(JetStreamFailure) -> LeaseAnswer
    ) -> LeaseAnswer {
        switch result {
        case .success(let message):
            do throws(JetStreamFailure) {
                let answer = try read(message)
                self.failure = nil
                return answer
            } catch .refused(let refusal) where refusal.isOtherRevision {
                self.failure = nil
                return .refused
            } catch {
                self.create(because: error)
                return .unknown
            }
        case .failure(let error as RequestFailure):
            // No stream takes the key's messages, or JetStream is not there.
            if error == .noResponders { self.create(because: error) }
            return error.isUnknown ? .unknown : .unsent
        case .failure: return .unknown
        }
    }

    /// Creates the bucket; logs the reason if that fails.
    ///
    /// Its revisions begin at the µs since 1970. A bucket that is made after a loss has none of the lost one's, which
    /// had far fewer writes, and refuses a write that expects one. The µs reach 2^53 in the year 2255.
    private func create(because reason: any Error) {
        guard !self.isCreating else { return }
        self.isCreating = true
        let creation = self.bucket.creation(firstRevision: UInt64(max(self.wallClock(), 0)) / 1_000)
        self.client.request(creation, within: .seconds(2)).assumeIsolated().whenComplete { result in
            self.isCreating = false
            do {
                try self.bucket.created(result.get())
                self.logExistence()
            } catch JetStreamFailure.refused(let refusal) where refusal.isOtherSettings {
                // Another ingest has made it with another first revision, or a person, for example with three replicas.
                if case JetStreamFailure.refused(let refusal) = reason, refusal.isMissingBucket {
                    self.logExistence()
                } else {
                    self.log("\(reason)")
                }
            } catch RequestFailure.noResponders {
                self.log("JetStream is not enabled: enable it in the NATS server and for this user")
            } catch {
                self.log("\(error)")
            }
        }
    }

    private func logExistence() {
        self.logger.notice("The bucket of the leases exists", metadata: ["bucket": "\(Self.bucketName)"])
    }

    private func log(_ failure: String) {
        guard failure != self.failure else { return }
        self.failure = failure
        self.logger.warning("The leases of the cluster cannot be used", metadata: ["reason": "\(failure)"])
    }
}

extension NATSClient {
    fileprivate func request(_ request: NATSRequest, within limit: TimeAmount) -> EventLoopFuture<NATSMessage> {
        self.request(request.subject, headers: request.headers, payload: request.payload, within: limit)
    }
}
