import TickertapeTesting
import Testing

/// An HTTP proxy on loopback, for `CONNECT`, in a program of its own.
enum ConnectProxy: Sendable {
    /// It opens every tunnel to this port of 127.0.0.1.
    case tunnel(to: Int)
    /// It opens tunnels that lead to nothing.
    case emptyTunnel
    /// It asks for a user and a password (407).
    case login
    /// It accepts connections and answers nothing.
    case silence

    private var arguments: [String] {
        switch self {
        case .tunnel(let port): ["good", "\(port)"]
        case .emptyTunnel: ["empty", "0"]
        case .login: ["login", "0"]
        case .silence: ["silent", "0"]
        }
    }

    /// Starts a proxy, and returns it with its port.
    static func start(_ mode: ConnectProxy) async throws -> (program: RunningProgram, port: Int) {
        let program = try RunningProgram("/usr/bin/python3", ["-u", "-c", self.script] + mode.arguments)
        #expect(await program.prints("port "), "\(program.errors)")
        return (program, try #require(RunningProgram.number(in: program.output, behind: "port ")))
    }

    private static let script = """
        import socket, sys, threading
        mode, target = sys.argv[1], int(sys.argv[2])
        server = socket.create_server(("127.0.0.1", 0))
        print("port", server.getsockname()[1], flush=True)
        def copy(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        def serve(client):
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                data = client.recv(4096)
                if not data:
                    return
                head += data
            if mode == "login":
                client.sendall(b"HTTP/1.1 407 Who\\r\\nProxy-Authenticate: Basic realm=x\\r\\nContent-Length: 0\\r\\n\\r\\n")
                client.close()
            elif mode != "silent":
                client.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
                if mode == "good":
                    upstream = socket.create_connection(("127.0.0.1", target))
                    threading.Thread(target=copy, args=(upstream, client), daemon=True).start()
                    copy(client, upstream)
            threading.Event().wait()
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """
}
