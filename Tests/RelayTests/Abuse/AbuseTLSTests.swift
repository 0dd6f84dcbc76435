import NIOCore
import TLS
import Testing
import TickertapeTesting
@testable import Measurements
@testable import Relay

/// TLS handshakes that are slow, invalid or many, while ten other clients are not disturbed over TLS.
@Suite("Abuse before TLS", .timeLimit(.minutes(2 * Patience.factor)))
struct AbuseTLSTests {
    /// The beginning of a ClientHello: a handshake record of 512 bytes.
    private static let hello: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]

    @Test("handshakes that stop, drip or are invalid are ended in time, and aborted ones cost nothing")
    func handshakes() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let instruments = Instruments()
        let tls = try RelayTLS.sample(
            in: folder,
            handshakeTimeout: .seconds(2),
            instruments: instruments
        )
        let context = try TLSContext(client: Certificates.client())
        let below: @Sendable () -> [any ChannelHandler] = { [TLSHandler(context: context, peer: .host("localhost"))] }
        try await RelayFixture.run(instruments: instruments, tls: tls) { fixture in
            try await Bystanders.watch(fixture, below: below) {
                var clients: [RawClient] = []
                for index in 0..<40 {
                    let client = try await RawClient.connect(to: fixture.address)
                    clients.append(client)
                    let channel = client.channel
                    switch index % 4 {
                    case 0:
                        break  // sends nothing at all
                    case 1:
                        try await channel.writeAndFlush(ByteBuffer(bytes: Self.hello))
                    case 2:
                        try await channel.writeAndFlush(ByteBuffer(bytes: Self.hello))
                        channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(50)) { task in
                            channel.writeAndFlush(ByteBuffer(bytes: [0])).whenFailure { _ in task.cancel() }
                        }
                    default:
                        try await channel.writeAndFlush(ByteBuffer(bytes: [UInt8](repeating: 0xFF, count: 4_000)))
                    }
                }
                for client in clients { try await client.ended() }
                // A flood of handshakes that are aborted in the middle.
                for _ in 0..<200 {
                    let client = try await RawClient.connect(to: fixture.address)
                    try await client.channel.writeAndFlush(ByteBuffer(bytes: Self.hello))
                    try? await client.close()
                }
                let late = try await RawClient.open(at: fixture.address, below: below)
                try await late.close()
            }
        }
    }
}
