import Glibc
import NIOCore
import NIOEmbedded
import Testing
@testable import Relay

@Suite("A client's socket, written to directly")
struct SocketTransportTests {
    @Test("it takes the bytes that fit, returns their number, and never blocks")
    func partial() throws {
        let line = try Line()
        let transport = SocketTransport(handle: line.near)
        let bytes = ByteBuffer(bytes: (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 3) })
        var rest = bytes
        var come: [UInt8] = []
        var calls = 0
        while rest.readableBytes > 0 {
            rest.moveReaderIndex(forwardBy: transport.send(rest))
            #expect(rest.readableBytes == 0 || transport.send(rest) == 0, "the line is full")
            come += line.read()
            calls += 1
        }
        #expect(come.elementsEqual(bytes.readableBytesView))
        #expect(calls > 1)
    }

    @Test("several buffers leave in order, cut wherever the socket is full")
    func gathered() throws {
        let line = try Line()
        let transport = SocketTransport(handle: line.near)
        let buffers = (0..<60).map { ByteBuffer(repeating: UInt8($0), count: $0 * 20) }
        let all = buffers.flatMap { $0.readableBytesView }
        let first = transport.send(buffers)
        #expect(first > 0 && first < all.count)
        #expect(line.read().elementsEqual(all[..<first]))
    }

    @Test("a closed peer takes nothing, and causes no signal")
    func gone() throws {
        let line = try Line()
        line.hangUp()
        #expect(SocketTransport(handle: line.near).send(ByteBuffer(string: "x")) == 0)
        #expect(SocketTransport(handle: line.near).send([ByteBuffer(string: "x"), ByteBuffer(string: "y")]) == 0)
    }

    @Test("a channel of the relay has one, a channel without a socket has none")
    func isFound() async throws {
        #expect(SocketTransport(EmbeddedChannel().pipeline) == nil)
        try await RelayFixture.run { fixture in
            let channel = try await RawClient.connect(to: fixture.address).channel
            let isThere = try await channel.eventLoop.submit { SocketTransport(channel.pipeline) != nil }.get()
            #expect(isThere)
        }
    }
}
