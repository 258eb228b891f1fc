//! A way to a database that can be held up, cut, or blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a proxy does with what passes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Everything passes.
    Open,
    /// Nothing passes, and nobody is told.
    Stalled,
    /// Connections are cut, and new ones as soon as they are made.
    Cut,
}

/// A proxy for TCP on a port of its own.
#[derive(Debug)]
pub struct Proxy {
    /// Its port on this machine.
    pub port: u16,
    way: watch::Sender<Way>,
    open: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// A proxy for this address.
    pub async fn to(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (way, receiver) = watch::channel(Way::Open);
        let open = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&open);
        let task = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (address, way) = (address.clone(), receiver.clone());
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    counted.fetch_add(1, Ordering::SeqCst);
                    serve(client, address, way).await;
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            port,
            way,
            open,
            task,
        }
    }

    /// A proxy for the database of a URL, and the URL that leads through it.
    pub async fn before(url: &str) -> (Self, String) {
        let address = url.split('@').nth(1).unwrap().split('/').next().unwrap();
        let proxy = Self::to(address.to_owned()).await;
        let through = url.replace(address, &format!("127.0.0.1:{}", proxy.port));
        (proxy, through)
    }

    /// From now on.
    pub fn set(&self, way: Way) {
        self.way.send(way).unwrap();
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(client: TcpStream, address: String, mut way: watch::Receiver<Way>) {
    // A connection that is made while nothing passes waits like all others.
    if passes(&mut way).await.is_none() {
        return;
    }
    let Ok(server) = TcpStream::connect(address).await else {
        return;
    };
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    tokio::select! {
        () = copy(client_reads, server_writes, way.clone()) => {}
        () = copy(server_reads, client_writes, way) => {}
    }
}

async fn copy(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut way: watch::Receiver<Way>,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            () = cut(way.clone()) => return,
        };
        if read == 0 || passes(&mut way).await.is_none() {
            return;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

/// Waits until something may pass; `None` if the connection is cut.
async fn passes(way: &mut watch::Receiver<Way>) -> Option<()> {
    let now = way.wait_for(|way| *way != Way::Stalled).await.ok()?;
    (*now == Way::Open).then_some(())
}

async fn cut(mut way: watch::Receiver<Way>) {
    if way.wait_for(|way| *way == Way::Cut).await.is_err() {
        std::future::pending::<()>().await;
    }
}
