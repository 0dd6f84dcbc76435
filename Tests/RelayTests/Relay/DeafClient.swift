import NIOCore
import NIOPosix
import Testing

extension RawClient {
    /// Makes the kernel drop all input of this client from now on, before the client can answer, as if its machine were
    /// gone.
    func goDeaf() async throws {
        /// Linux's `struct sock_filter` and `struct sock_fprog` (linux/filter.h): one instruction, `ret 0`.
        struct Instruction {
            var code: UInt16 = 0x06
            var ifTrue: UInt8 = 0
            var ifFalse: UInt8 = 0
            var operand: UInt32 = 0
        }
        struct Program {
            var length: UInt16 = 1
            var instructions: UnsafeMutablePointer<Instruction>
        }
        let attachFilter: Int32 = 26
        let channel = self.channel
        let result = try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                descriptor in
                var instruction = Instruction()
                return withUnsafeMutablePointer(to: &instruction) { instructions in
                    var program = Program(instructions: instructions)
                    let length = socklen_t(MemoryLayout<Program>.size)
                    return setsockopt(descriptor, SOL_SOCKET, attachFilter, &program, length)
                }
            }
        }.get()
        #expect(result == 0)
    }
}
